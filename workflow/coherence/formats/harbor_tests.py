"""The verifier's results of single tests in a Harbor trial: ctrf.json, one a verifier.

A multi-step task has a verifier a step; the names of its tests stand behind the step's name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coherence.formats.ctrf import read_ctrf
from coherence.formats.folders import listing
from coherence.formats.harbor_result import TrialFiles
from coherence.formats.verifier_tests import Results, with_tests
from coherence.records import Outcome

TESTS_FILE: Final = "verifier/ctrf.json"


def test_files(trial: Path) -> Iterator[Path]:
    """Yield the files that may hold results of tests: the trial's own, then each step's."""
    yield trial / TESTS_FILE
    if (trial / "steps").is_dir():
        yield from (trial / "steps" / name / TESTS_FILE for name in listing(trial / "steps").folders)


def read_tests(files: TrialFiles, outcome: Outcome) -> tuple[Outcome, Results]:
    """Return the outcome with the counts of its tests, and the tests; there is none where no file has any."""
    results = Results()
    for name in files.names(TESTS_FILE):
        step = name.removesuffix(TESTS_FILE).removeprefix("steps/").rstrip("/")
        document = files.json(name)
        if document is not None:
            read_ctrf(document, results, f"{step}: " if step else "")
    return with_tests(outcome, results, files.notes[-1]), results
