"""What says whether an attempt passed, and whose word goes first: one order for files and for samples."""

from typing import Final, Literal

Evidence = Literal["passed", "reward", "answer", "tests"]

# What was said outright, then the grader's number, then what the attempt itself shows.
EVIDENCE: Final[tuple[Evidence, ...]] = ("passed", "reward", "answer", "tests")


def first_told(said: dict[Evidence, bool | None]) -> bool | None:
    """Return what the first evidence says that says anything, None where none does."""
    return next((said[name] for name in EVIDENCE if said.get(name) is not None), None)


def all_passed(tests: str) -> bool | None:
    """Return whether all tests passed, None where one has no result and none failed."""
    return False if "0" in tests else None if "-" in tests else True
