"""The words of the outcomes table, without any library: its columns, the kinds of outcome, the choices."""

from typing import Final, Literal, get_args

from coherence.records import Record

OutcomeField = Literal[
    "group",
    "scaffold",
    "backbone",
    "task",
    "attempt",
    "verification",
    "context",
    "seed",
    "passed",
    "reward",
    "answer",
    "target",
    "tests",
    "probabilities",
    "number",
    "target_number",
    "lint_failures",
    "assertion_failures",
    "rubric",
    "output_tokens",
    "reasoning_tokens",
    "steps",
    "calls",
    "seconds",
    "cost_usd",
    "stop_reason",
    "trajectory",
]
Length = Literal["output_tokens", "reasoning_tokens", "steps", "calls", "seconds", "cost_usd"]
Kind = Literal["answer", "tests", "probabilities", "number", "passed"]
Loss = Literal["tests", "reward", "number", "lint_failures", "assertion_failures", "rubric"]
NullAs = Literal["unknown", "failed"]
Decomposition = Literal[
    "seed_modal", "kohavi_wolpert", "modal_margin", "brier", "kl", "domingos", "squared_error", "tests"
]

COLUMNS: Final[tuple[str, ...]] = ("dataset", *get_args(OutcomeField))
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
NEEDS: Final[dict[Kind, tuple[str, ...]]] = {
    "answer": ("answer", "target"),
    "tests": ("tests",),
    "probabilities": ("probabilities", "target"),
    "number": ("number", "target_number"),
    "passed": ("passed",),
}
ATTEMPT: Final = ("group", "task", "context", "attempt")  # what names an attempt of a dataset
KEY: Final = (*ATTEMPT, "verification")
VALUES: Final = ("passed", "reward", "answer", "tests", "probabilities", "number")  # what an attempt came to
LENGTHS: Final[tuple[str, ...]] = get_args(Length)
LOSSES: Final[tuple[str, ...]] = get_args(Loss)
COUNTS: Final = ("lint_failures", "assertion_failures", *LENGTHS)  # numbers that are never negative
NUMBERS: Final = ("reward", "number", "target_number", "rubric", *COUNTS)
# By which probabilities, often written rounded, may miss 1 before they are divided by their sum; a little
# more, so that sums of 0.98 and 1.02 are within it however they are added up.
SUM_TOLERANCE: Final = 0.02 + 1e-9
TEXTS: Final = tuple(name for name in COLUMNS if name not in (*NUMBERS, "passed"))


class Counted(Record, frozen=True):
    """What was left out or is unknown, never in silence: how many of what, why, and where the first is."""

    dataset: str
    reason: str
    count: int
    unit: str = "rows"
    where: str = ""

    @property
    def amount(self) -> str:
        """How many of what, in words."""
        return f"{self.count:,} {self.unit if self.count != 1 else self.unit.removesuffix('s')}"
