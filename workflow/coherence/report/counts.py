"""Tables of what was counted on the way: trials lost, judgements made, deviations met in the raw files."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from coherence.evaluation.attrition import Attrition
from coherence.records import Entry, Judgement
from coherence.report.blocks import Table


def attrition_table(rows: Sequence[Attrition]) -> Table:
    """Return the table of what became of each dataset's trials."""
    return Table(
        title="From trials to comparisons",
        caption="What became of every trial found; the numbers of a dataset add up to all its trials.",
        columns=("Dataset", "What became of it", "Trials", "Of"),
        rows=tuple((row.dataset, row.fate, f"{row.n:,}", f"{row.of:,}") for row in rows),
        datasets=_named(row.dataset for row in rows),
    )


def judgement_table(judgements: Mapping[str, Mapping[str, Sequence[Judgement]]]) -> Table:
    """Return the table of judgements by state; `judgements` is by dataset, then judge."""
    return Table(
        title="Judgements",
        caption="Every judgement made, each sample counted: flagged, unflagged (and how many of these had no "
        "thought to judge), or unjudged and why. Unjudged never counts as unflagged.",
        columns=(
            "Dataset",
            "Judge",
            "Judgements",
            "Flagged",
            "Unflagged",
            "Of these without thoughts",
            "Unjudged",
            "Why unjudged",
        ),
        rows=tuple(
            (dataset, judge, *_judgement_cells(words))
            for dataset, judges in judgements.items()
            for judge, words in judges.items()
        ),
        datasets=_named(judgements),
    )


def deviation_table(entries: Mapping[str, Sequence[Entry]]) -> Table:
    """Return the table of deviations met by ingest, by code; `entries` is by dataset."""
    return Table(
        title="Deviations in the raw files",
        caption="What in the raw files was not as their format says. Reading goes on after each; ingest.csv "
        "lists every one with its file.",
        columns=("Dataset", "Code", "Deviations", "Trials with it", "Of"),
        rows=tuple(row for dataset, found in entries.items() for row in _deviation_rows(dataset, found)),
        datasets=_named(entries),
    )


def _judgement_cells(words: Sequence[Judgement]) -> tuple[str, ...]:
    states = Counter(word.state for word in words)
    thoughtless = sum(word.state == "unflagged" and word.substrate == "none" for word in words)
    reasons = Counter(word.reason or "reason unknown" for word in words if word.state == "unjudged")
    counts = (len(words), states["flagged"], states["unflagged"], thoughtless, states["unjudged"])
    return (*(f"{count:,}" for count in counts), _listed(reasons))


def _deviation_rows(dataset: str, entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    found, trials = Counter[str](), Counter[str]()
    for entry in entries:
        found.update(entry.deviations)
        trials.update(entry.deviations.keys())
    if not found:
        return [(dataset, "none", "0", "0", f"{len(entries):,}")]
    return [
        (dataset, code, f"{count:,}", f"{trials[code]:,}", f"{len(entries):,}")
        for code, count in _ranked(found)
    ]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in _ranked(counts))


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _named(datasets: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(datasets))
