"""SWE-bench reports: which files may tell whether an instance was resolved, its tests, and what they say."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import Any, Final

from coherence.formats import narrow
from coherence.formats.deviations import Deviations
from coherence.formats.verifier_tests import Results

REPORT: Final = "report.json"
SUMMARIES: Final = (REPORT, "results_summary.json", "results.json")
DECIDING: Final = ("FAIL_TO_PASS", "PASS_TO_PASS")  # the lists of tests that decide; others only describe
_LISTS: Final = {"success": True, "failure": False}


class ReportIndex:
    """The report files of a dataset, by the folder they lie in."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = frozenset(keys)
        self._by_instance: dict[str, list[str]] = {}
        for key in sorted(self._keys):
            folder, name = posixpath.split(key)
            if name == REPORT:
                self._by_instance.setdefault(posixpath.basename(folder), []).append(key)

    def for_instance(self, trajectory: str, instance: str) -> Iterator[str]:
        """Yield the reports that may tell of this trajectory's instance, the closest first."""
        folders = list(_upwards(posixpath.dirname(trajectory)))
        yield from self._existing(folders[0], (REPORT,))
        for folder in folders:
            logs = posixpath.join(folder, "logs", "")
            yield from (key for key in self._by_instance.get(instance, ()) if key.startswith(logs))
        for folder in folders:
            yield from self._existing(folder, SUMMARIES)

    def _existing(self, folder: str, names: Iterable[str]) -> Iterator[str]:
        return (key for name in names if (key := posixpath.join(folder, name)) in self._keys)


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def read_resolved(report: object, instance: str, *, own: bool) -> bool | None:
    """Return whether a report says the instance was resolved, None where it does not say.

    A bare {"resolved": ...} counts only in the instance's `own` report.
    """
    if not isinstance(report, dict):
        return None
    return next((word for word in _words(report, instance, own) if isinstance(word, bool)), None)


def _words(report: dict[str, Any], instance: str, own: bool) -> Iterator[object]:
    entry = report.get(instance)
    yield entry.get("resolved") if isinstance(entry, dict) else entry
    entries = report.get("instances")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("instance_id") == instance:
            yield entry.get("resolved")
    for field, word in (("resolved_ids", True), ("unresolved_ids", False)):
        ids = report.get(field)
        if isinstance(ids, list) and instance in ids:
            yield word
    if own:
        yield report.get("resolved")


def read_tests(report: object, instance: str, notes: Deviations, *, own: bool) -> Results:
    """Return the results of the tests that decide, as a report has them; none where it has none.

    A bare {"tests_status": ...} counts only in the instance's `own` report.
    """
    results = Results()
    entry = report.get(instance) if isinstance(report, dict) else None
    if not isinstance(entry, dict):
        entry = report if own and isinstance(report, dict) else {}
    status = narrow.mapping(entry.get("tests_status"), "tests_status", notes)
    for kind in DECIDING:
        lists = narrow.mapping(status.get(kind), f"tests_status.{kind}", notes)
        for name, passed in _LISTS.items():
            for test in narrow.items(lists.get(name), f"tests_status.{kind}.{name}", notes):
                results.add(test, passed, notes)
    return results
