"""Kill a run in batches at random times, resume it, and count what was submitted more than once.

    python tests/bench/batch_kills.py [KILLS] [SEED]

The server takes its time over every create, so that kills fall into it too.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from batches_server import Batch, Batches
from coherence.llm.store import ReplyStore
from messages_server import serving

REQUESTS = 60
PER_BATCH = 10
CREATE_SECONDS = 0.3
RUN = """
import sys, anthropic, httpx2
from pathlib import Path
from coherence.llm.batch_queue import Limits
from coherence.llm.account import Account
from coherence.llm.batches import BatchClient
from coherence.llm.request import Connection, Request
from coherence.llm.store import ReplyStore
async def work(item, ask):
    return await ask(item, 0)
root, url, count, per_batch = sys.argv[1:]
texts = [str(number) for number in range(int(count))]
requests = [Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": t},)) for t in texts]
connection = Connection(base_url=url, poll_seconds=0.6, max_retries=1)
print("ready", flush=True)
account = Account(Path(root) / "ledger.csv", "detector")
client = BatchClient(ReplyStore(Path(root)), connection, account, Limits(requests=int(per_batch)))
print(sum(1 for _ in client.each(requests, work)), flush=True)
"""


def slow(_: Batch) -> None:
    """Let the client wait for the id of the batch that is there already."""
    time.sleep(CREATE_SECONDS)


def main() -> None:
    """Kill, resume, count."""
    given = [int(text) for text in sys.argv[1:]]
    kills, seed = (given + [20, 1][len(given) :])[:2]
    draw = random.Random(seed)
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        batches = Batches(server, looks=4)
        batches.created.extend([slow] * 1000)
        store = ReplyStore(Path(folder) / "replies")
        command = [sys.executable, "-c", RUN, str(store.root), server.url, str(REQUESTS), str(PER_BATCH)]
        seen: set[str] = set()
        for _ in range(kills):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(draw.uniform(0.05, 0.5))
            process.kill()
            process.communicate()
            seen |= {path.name for path in store.root.glob("batches/*.intent.json")}
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        carried = Counter(batches.carried)
        print(f"{kills} kills, seed {seed}, {len(seen)} of them while a batch was created")
        print(f"answered {done.stdout.split()[-1]} of {REQUESTS}")
        print(
            f"{len(batches.batches)} batches, {sum(n - 1 for n in carried.values())} requests submitted twice"
        )


if __name__ == "__main__":
    main()
