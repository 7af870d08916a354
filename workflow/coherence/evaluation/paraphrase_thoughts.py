"""How the thoughts were rewritten: a paraphrase at a time to read, a thought at a time in full."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.paraphrased import Manipulated
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Cell, Table, shown
from coherence.paraphrase.checks import PROBLEMS, RATIOS, ThoughtCheck, count_problems
from coherence.records import Record


class Rewriting(Record, frozen=True):
    """How one paraphrase rewrote the thoughts of one dataset; what there are no texts to tell of is None."""

    dataset: str
    paraphrase: str
    how: str
    trajectories: int
    whole: int
    without_text: int
    thoughts: int
    problems: dict[str, int]
    median_ratio: float | None
    markers_before: int
    markers_after: int
    basis: str
    simulated: str = ""


def _problem(name: str) -> Callable[[Rewriting], str]:
    return lambda row: wording.count(row.problems[name])


_THOUGHTS: Final[dict[str, Callable[[Rewriting], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Paraphrase": lambda row: row.paraphrase,
    "Rewritten by": lambda row: row.how,
    "Rests on": lambda row: row.basis,
    "Trajectories": lambda row: wording.count(row.trajectories),
    "whole": lambda row: wording.count(row.whole),
    "verdicts only": lambda row: wording.count(row.without_text),
    "Thoughts": lambda row: wording.count(row.thoughts),
    **{name: _problem(name) for name in PROBLEMS},
    "Length": lambda row: wording.NONE if row.median_ratio is None else f"{row.median_ratio:.2f}",
    "Markers": lambda row: wording.movement(row.markers_before, row.markers_after),
}
_CHECK_FIELDS: Final = (
    *("dataset", "paraphrase", "how", "trajectory", "step", "index", "problems", "reason", "characters"),
    *("characters_after", "ratio", "markers", "markers_after", "tokens", "lost", "added", "simulated"),
)


def thought_table(made: Sequence[Manipulated]) -> Table:
    """Return `paraphrase_thoughts`: to read, a row a paraphrase; in full, a row a thought."""
    once = list({(one.paraphrase, one.dataset): one for one in made}.values())
    rows = [_rewriting(one) for one in once]
    limits = "; ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in RATIOS.items())
    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in PROBLEMS.items())
    return Table(
        name="paraphrase_thoughts",
        title="How the thoughts were rewritten",
        caption=(
            f"Thoughts by what is wrong with them ({meanings}). Length: median of the characters after by "
            f"those before, allowed {limits}; a thought may fail several checks and is judged all the same. "
            "Markers: discourse markers in the thoughts that were rewritten, before and after. The CSV file "
            "has a row a thought."
        ),
        columns=tuple(_THOUGHTS),
        rows=shown(rows, _THOUGHTS),
        fields=_CHECK_FIELDS,
        records=tuple(record for one in once for record in _check_records(one)),
        note=simulation_note((row.dataset, row.simulated) for row in rows),
        datasets=tuple(dict.fromkeys(row.dataset for row in rows)),
    )


def _rewriting(made: Manipulated) -> Rewriting:
    checks = [check for row in made.checked for check in row.checks]
    told = [check for check in checks if check.ratio is not None]
    whole = [row for row in made.checked if row.rewritten.is_whole]
    return Rewriting(
        dataset=made.dataset,
        paraphrase=made.paraphrase,
        how=made.how,
        trajectories=len(made.checked),
        whole=len(whole),
        without_text=sum(not row.rewritten.has_text for row in made.checked),
        thoughts=len(checks),
        problems=count_problems(checks),
        median_ratio=median(check.ratio or 0.0 for check in told) if told else None,
        markers_before=sum(check.markers for check in told),
        markers_after=sum(check.markers_after or 0 for check in told),
        basis=", ".join(dict.fromkeys(row.rewritten.basis for row in made.checked)),
        simulated=made.simulated,
    )


def _check_records(made: Manipulated) -> Iterator[dict[str, Cell]]:
    for row in made.checked:
        for check in row.checks:
            yield _check_record(made, row.rewritten.id, check)


def _check_record(made: Manipulated, trajectory: str, check: ThoughtCheck) -> dict[str, Cell]:
    names = ("step", "index", "reason", "characters", "characters_after", "ratio", "markers", "markers_after")
    return {
        **{name: getattr(made, name) for name in ("dataset", "paraphrase", "how", "simulated")},
        "trajectory": trajectory,
        **{name: getattr(check, name) for name in (*names, "tokens")},
        "problems": "; ".join(check.problems),
        "lost": None if check.lost is None else len(check.lost),
        "added": None if check.added is None else len(check.added),
    }
