"""The page of one task: what its attempts came to, and where their actions part, one line an action."""

from collections.abc import Iterator, Sequence
from typing import Final

from coherence.evaluation.mitigation import VARIANCE_HEAVY, FailingTask
from coherence.incoherence.paths import Action, Parting, actions, alignment, middle, parting
from coherence.records import Record, Transcript, Trial, VerifierTests
from coherence.report.rendering import pages_href, render
from coherence.report.task_tests import compare

LONGEST_ACTION: Final = 220  # characters of an action's text
MOST_LINES: Final = 300  # lines of one attempt; the rest is counted


class Attempt(Record, frozen=True):
    """One attempt with its text and tests, the judges that flag it, and whether it has a page of its own."""

    trial: Trial
    transcript: Transcript
    flagged_by: tuple[str, ...] = ()
    linked: bool = True
    tests: VerifierTests | None = None


class TaskPage(Record, frozen=True):
    """What a task's page shows; `simulated` says what is not real about the data."""

    dataset: str
    task: str
    groups: tuple[FailingTask, ...]
    attempts: tuple[Attempt, ...]
    without_text: int = 0
    simulated: str = ""


class Line(Record, frozen=True):
    """One line of a compressed trajectory: an action, or a stretch of `same` actions both paths have."""

    action: Action | None
    text: str
    same: int = 0
    missing: int = 0


class AttemptView(Record, frozen=True):
    """One attempt as it is printed; `parting` is from the attempt in the middle, None for that one itself."""

    attempt: Attempt
    actions: int
    calls: int
    parting: Parting | None
    lines: tuple[Line, ...]
    left_out: int
    href: str


def render_task_page(page: TaskPage) -> str:
    """Return the page as one HTML document that loads nothing and runs nothing."""
    paths = [actions(attempt.transcript.steps) for attempt in page.attempts]
    centre = middle(paths) if paths else None
    views = [
        _view(attempt, path, None if place == centre else paths[centre or 0])
        for place, (attempt, path) in enumerate(zip(page.attempts, paths, strict=True))
    ]
    first = {name for group in page.groups if group.suggestion != VARIANCE_HEAVY for name in group.read_first}
    tests = compare([attempt.tests for attempt in page.attempts])
    return render("task.html", page=page, views=views, first=first, tests=tests)


def _view(attempt: Attempt, path: Sequence[Action], centre: Sequence[Action] | None) -> AttemptView:
    lines = list(_whole(path) if centre is None else _against(path, centre))
    calls = sum(len(step.calls) for step in attempt.transcript.steps if step.source == "agent")
    return AttemptView(
        attempt=attempt,
        actions=len(path),
        calls=calls,
        parting=None if centre is None else parting(path, centre),
        lines=tuple(lines[:MOST_LINES]),
        left_out=max(0, len(lines) - MOST_LINES),
        href=f"../../{pages_href((attempt.trial.dataset, attempt.trial.id)).removeprefix('pages/')}",
    )


def _whole(path: Sequence[Action]) -> Iterator[Line]:
    for action in path:
        yield Line(action, _short(action.text))


def _against(path: Sequence[Action], centre: Sequence[Action]) -> Iterator[Line]:
    """Yield the path's own actions; what it shares with the middle one is counted, and what it lacks too."""
    for stretch in alignment(path, centre):
        start, end = stretch.first
        if stretch.kind == "equal":
            yield Line(path[start], "", same=end - start)
            continue
        lacking = stretch.second[1] - stretch.second[0]
        for place, action in enumerate(path[start:end]):
            yield Line(action, _short(action.text), missing=lacking if place == 0 else 0)
        if start == end:
            yield Line(None, "", missing=lacking)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_ACTION else text[: LONGEST_ACTION - 1] + "…"
