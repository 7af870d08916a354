"""Every number the paper prints beside ours: how the two stand, and what ours rests on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from coherence.evaluation import wording
from coherence.evaluation.evaluate import Evaluation
from coherence.evaluation.in_the_run import DATASETS, from_run
from coherence.evaluation.numbers import Needs, Number, Value
from coherence.evaluation.paraphrased import Summary
from coherence.evaluation.published import Published
from coherence.evaluation.recomputed import from_counts, value
from coherence.evaluation.render import Table, shown
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.preprocess import PreprocessSettings
from coherence.records import Record
from coherence.stats.intervals import Bootstrap
from coherence.stats.rounding import half_up
from coherence.vocabulary import MAX_CONFIDENCE, MIN_CONFIDENCE

Status = Literal["match", "differs", "not recomputable", "paper contradicts itself", "not printed"]
COUNTS: Final = "recomputed from published counts"
PLANTED: Final = "planted in the reconstruction"
MEASURED: Final = "measured"
SETTING: Final = "a setting of this workflow"
NO_BASIS: Final = "none"
REASONS: Final[dict[Needs, str]] = {
    "": "the other counts rest on it",
    "trajectories": "needs the trajectories, which are not public",
    "paraphrases": "needs the paraphrased trajectories, which are not public",
}

NEEDED: Final = tuple(REASONS)


class Beside(Record, frozen=True):
    """A printed number beside ours; `run` is what the run's own datasets of that name give."""

    number: Number
    status: Status
    basis: str
    ours: Value | None = None
    run: Value | None = None
    run_status: str | None = None
    reason: str | None = None


def settings() -> dict[str, Value]:
    """Return by id the paper's settings as this workflow has them."""
    return {
        "config.bootstrap_B": value(Bootstrap().resamples),
        "config.truncate_chars": value(PreprocessSettings().observation_chars),
        "config.confidence_scale": value(MIN_CONFIDENCE, MAX_CONFIDENCE),
    }


def beside(
    numbers: Sequence[Number],
    published: Published,
    evaluation: Evaluation,
    rows: Sequence[Row],
    paraphrased: Sequence[Summary] = (),
) -> Iterator[Beside]:
    """Yield every printed number beside ours: from the counts where they give it, else from the run."""
    counted, chosen, run = from_counts(published), settings(), from_run(evaluation, rows, paraphrased)
    planted = any(evaluation.settings.simulated.get(dataset) for dataset in DATASETS)
    for number in numbers:
        sources = ((COUNTS, counted), (SETTING, chosen), (PLANTED if planted else MEASURED, run))
        basis, found = next(
            ((name, values[number.id]) for name, values in sources if number.id in values), (NO_BASIS, None)
        )
        yield _beside(number, basis, found, run)


def _beside(number: Number, basis: str, ours: Value | None, run: Mapping[str, Value]) -> Beside:
    theirs = run.get(number.id)
    if number.also:
        return Beside(number, "paper contradicts itself", basis, reason="two places of the paper differ")
    if ours is None:
        return Beside(number, "not recomputable", basis, reason=REASONS[number.needs])
    return Beside(
        number=number,
        status=_status(number, ours),
        basis=basis,
        ours=ours,
        run=theirs,
        run_status=None if theirs is None else _status(number, theirs),
    )


def _status(number: Number, ours: Value) -> Status:
    if not number.published:
        return "not printed"
    return "match" if number.fits(ours) else "differs"


def text(number: Number, values: Sequence[float]) -> str:
    """Return the values with the decimals the number is printed with."""
    decimals = number.tolerance if number.kind == "rounded" else 0 if number.kind == "interval" else 1
    return "; ".join(_trimmed(str(half_up(one, decimals)), number.kind == "exact") for one in values)


def printed(number: Number) -> list[str]:
    """Return what the paper prints, each version of it."""
    return [text(number, values) for values in (number.published, number.also) if values]


def _trimmed(shown_: str, whole: bool) -> str:
    return shown_.removesuffix(".0") if whole else shown_


def tolerance(number: Number) -> str:
    """Return the tolerance in words."""
    if number.kind == "rounded":
        return f"equal once rounded to {number.tolerance} decimals"
    return "1 step of 1/n" if number.kind == "interval" else "equal"


_COLUMNS: Final[dict[str, Callable[[Beside], str]]] = {
    "Basis": lambda row: row.basis if row.ours else row.reason or row.basis,
    "Number": lambda row: row.number.id,
    "Place": lambda row: row.number.place,
    "Unit": lambda row: row.number.unit,
    "Published": lambda row: " and ".join(printed(row.number)) or wording.NONE,
    "Ours": lambda row: text(row.number, row.ours.numbers) if row.ours else wording.NONE,
    "Status": lambda row: row.status,
    "In this run": lambda row: (
        f"{text(row.number, row.run.numbers)}, {row.run_status}" if row.run else wording.NONE
    ),
}


def table(found: Sequence[Beside], settings: EvaluationSettings) -> Table:
    """Return `published`: what is recomputed first, what needs something else behind it."""
    found = sorted(found, key=lambda row: (row.ours is None, NEEDED.index(row.number.needs)))
    fields = (
        "id",
        "place",
        "published",
        "unit",
        "ours",
        "tolerance",
        "status",
        "basis",
        "reason",
        "run",
        "run_status",
    )
    return Table(
        name="published",
        title="Every number the paper prints, beside ours",
        caption=_caption(found),
        columns=tuple(_COLUMNS),
        rows=shown(found, _COLUMNS),
        fields=fields,
        records=tuple(dict(zip(fields, _record(row), strict=True)) for row in found),
        note=note_of(found, settings.simulated),
    )


def note_of(found: Sequence[Beside], simulated: Mapping[str, str]) -> str:
    """Return what is not real about the run's datasets, where any number of theirs is shown."""
    return " ".join(
        f"{dataset} in this run is simulated: {note}."
        for dataset in DATASETS
        if (note := simulated.get(dataset)) and any(row.run for row in found)
    )


def _record(row: Beside) -> Iterator[str | None]:
    number = row.number
    versions = " and ".join(_full(values) for values in (number.published, number.also) if values)
    yield from (number.id, number.place, versions, number.unit)
    yield from (
        _full(row.ours.numbers) if row.ours else None,
        tolerance(number),
        row.status,
        row.basis,
        row.reason,
    )
    yield from (_full(row.run.numbers) if row.run else None, row.run_status)


def _full(values: Sequence[float]) -> str:
    return ";".join(f"{one:.12g}" for one in values)


def _caption(found: Sequence[Beside]) -> str:
    matches = Counter(row.basis for row in found if row.status == "match")
    compared = Counter(row.basis for row in found if row.status in ("match", "differs"))
    counted = "; ".join(f"{matches[basis]} of {n} {basis}" for basis, n in compared.items())
    others = Counter(row.status for row in found if row.status not in ("match", "differs"))
    rest = "; ".join(f"{n} {status}" for status, n in others.items())
    return (
        f"Numbers, or groups of numbers, that match, by what ours rests on: {counted or 'none'}. The others: "
        f"{rest or 'none'}. One recomputed from published counts checks the paper's arithmetic (its rates "
        "leave room for these counts alone); one planted in a reconstruction checks this workflow's plumbing "
        "and nothing else; only a measured one would be a reproduction. In this run: what datasets named "
        f"{' and '.join(DATASETS)} give, if it has them."
    )
