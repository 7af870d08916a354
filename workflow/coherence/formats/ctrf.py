"""CTRF, the Common Test Report Format: the name and the status of each test, and nothing else of it."""

from typing import Final

from coherence.formats import narrow
from coherence.formats.documents import Document
from coherence.formats.verifier_tests import Results

STATUSES: Final[dict[str, bool | None]] = {
    "passed": True,
    "failed": False,
    "skipped": None,
    "pending": None,
    "other": None,
}


def read_ctrf(document: Document, results: Results, prefix: str = "") -> None:
    """Add a report's tests to the results, their names behind `prefix`; never raises for what it holds."""
    notes = document.notes
    report = document.value.get("results") if isinstance(document.value, dict) else None
    tests = report.get("tests") if isinstance(report, dict) else None
    if not isinstance(tests, list):
        notes.add("tests_unreadable", document.problem or "it has no list results.tests")
        return
    for test in narrow.objects(tests, "results.tests", notes):
        name, status = test.get("name"), test.get("status")
        if not isinstance(status, str) or status not in STATUSES:
            notes.add("test_status_unknown", status if isinstance(status, str) else narrow.kind(status))
            status = "other"
        named = isinstance(name, str) and name.strip()
        results.add(f"{prefix}{name}" if named else name, STATUSES[status], notes)
