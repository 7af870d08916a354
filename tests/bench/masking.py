"""Measures masking: seconds for a text with 5,000 secrets and for one with 40,000, and their ratio.

Eight times the secrets should take about eight times as long; were the text copied for each, 27 times.
"""

import random
import string
import sys
import time

from coherence.judges.masking import masked
from coherence.records import Step, Transcript

MOST: float = 16


def seconds(count: int) -> float:
    draw = random.Random(1)
    letters = string.ascii_letters + string.digits
    text = "\n".join("ghp_" + "".join(draw.choices(letters, k=36)) for _ in range(count))
    start = time.process_time()
    found = masked(Transcript("x", (Step(1, "agent", text),)))
    assert found.total == count
    return time.process_time() - start


def main() -> int:
    few, many = seconds(5_000), seconds(40_000)
    print(f"masking: 5,000 secrets {few:.2f} s, 40,000 secrets {many:.2f} s, ratio {many / few:.1f}")
    return int(many > MOST * few)


if __name__ == "__main__":
    sys.exit(main())
