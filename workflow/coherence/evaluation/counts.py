"""What lies under the rates: verdicts and reasons, quotes found, trials missing, files that deviate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from coherence.evaluation.attrition import Attrition
from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table
from coherence.records import Entry, Judgement, QuoteVerdict, Record

QUOTE_VERDICTS: Final[tuple[QuoteVerdict, ...]] = (
    "exact",
    "normalised",
    "wrong_step",
    "absent",
    "not_checkable",
)


class JudgementCount(Record, frozen=True):
    """How one judge's words on one dataset divide; they add up to `n`. Quotes are two a span.

    `unverified` counts spans that do not flag, `in_parts` judgements of a transcript read in several windows,
    `incomplete` flags beside which a part or a span has no answer, `asked_again` judgements for which a reply
    that did not fit was asked for again.
    """

    dataset: str
    judge: str
    n: int
    flagged: int
    unflagged: int
    unjudged: int
    reasons: str
    without_thoughts: int
    spans: int
    exact: int
    normalised: int
    wrong_step: int
    absent: int
    not_checkable: int
    unverified: int
    in_parts: int
    incomplete: int
    asked_again: int
    masked: int


class DeviationCount(Record, frozen=True):
    """How often one deviation was met in a dataset's raw files, and in how many of its trials."""

    dataset: str
    code: str
    times: int
    trials: int
    of: int


def count_judgements(dataset: str, judge: str, words: Sequence[Judgement]) -> JudgementCount:
    """Return the counts of one judge's judgements of one dataset."""
    states = Counter(word.state for word in words)
    reasons = Counter(word.reason or "no reason given" for word in words if word.state == "unjudged")
    spans = [span for word in words for span in word.spans]
    quotes = Counter(
        check.verdict for span in spans for check in (span.acknowledgment_check, span.action_check)
    )
    return JudgementCount(
        dataset=dataset,
        judge=judge,
        n=len(words),
        flagged=states["flagged"],
        unflagged=states["unflagged"],
        unjudged=states["unjudged"],
        reasons=", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())),
        without_thoughts=sum(1 for word in words if word.substrate == "none"),
        spans=len(spans),
        unverified=sum(1 for span in spans if not span.flags),
        in_parts=sum(1 for word in words if word.windows > 1),
        incomplete=sum(1 for word in words if word.state == "flagged" and word.lost),
        asked_again=sum(1 for word in words if word.asked_again),
        **{verdict: quotes[verdict] for verdict in QUOTE_VERDICTS},
        masked=sum(word.masked for word in words),
    )


def count_deviations(dataset: str, entries: Sequence[Entry]) -> list[DeviationCount]:
    """Return each deviation of one dataset, the most frequent first; a row "none" where there is none."""
    times, trials = Counter[str](), Counter[str]()
    for entry in entries:
        times.update(entry.deviations)
        trials.update(entry.deviations.keys())
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    rows = [DeviationCount(dataset, code, n, trials[code], len(entries)) for code, n in ordered]
    return rows or [DeviationCount(dataset, "none", 0, 0, len(entries))]


def _table(
    texts: tuple[str, str, str],
    rows: Sequence[Record],
    columns: Mapping[str, str],
    simulated: Mapping[str, str],
) -> Table:
    name, title, caption = texts
    plain = [msgspec.structs.asdict(row) for row in rows]
    datasets = tuple(dict.fromkeys(row["dataset"] for row in plain))
    shown = ({**row, "dataset": marked(row["dataset"], simulated.get(row["dataset"], ""))} for row in plain)
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=tuple(columns),
        rows=tuple(tuple(_cell(row[field]) for field in columns.values()) for row in shown),
        fields=(*columns.values(), "simulated"),
        records=tuple(
            {field: row[field] for field in columns.values()}
            | {"simulated": simulated.get(row["dataset"], "")}
            for row in plain
        ),
        note=simulation_note((dataset, simulated.get(dataset, "")) for dataset in datasets),
        datasets=datasets,
    )


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def judgement_table(rows: Sequence[JudgementCount], simulated: Mapping[str, str]) -> Table:
    """Return `judgements`."""
    columns = {
        "Dataset": "dataset",
        "Judge": "judge",
        "Judgements": "n",
        "Flagged": "flagged",
        "Unflagged": "unflagged",
        "Unjudged": "unjudged",
        "Why unjudged": "reasons",
        "Without thoughts": "without_thoughts",
        "Spans": "spans",
        "Quotes exact": "exact",
        "normalised": "normalised",
        "wrong step": "wrong_step",
        "absent": "absent",
        "not checkable": "not_checkable",
        "Spans that do not flag": "unverified",
        "Read in parts": "in_parts",
        "Incomplete flags": "incomplete",
        "Asked again": "asked_again",
        "Secrets masked": "masked",
    }
    caption = (
        "Every judgement, whatever became of the trial. An unjudged trajectory never counts as unflagged; "
        "one without thoughts is unflagged, for there is nothing to judge. Quotes are two a span, looked up "
        "in the trajectory; a span whose acknowledgment is absent does not flag. Read in parts: longer than "
        "the model's window. Incomplete flags: a part (of a second look: a span) beside the flag has no "
        "answer. Asked again: the first reply did not fit the schema. Secrets masked: places in the texts "
        "that were sent, each reply counted."
    )
    return _table(("judgements", "Judgements and their quotes", caption), rows, columns, simulated)


def attrition_table(rows: Sequence[Attrition], simulated: Mapping[str, str]) -> Table:
    """Return `attrition`."""
    columns = {
        "Dataset": "dataset",
        "What became of the trial": "fate",
        "Trials": "n",
        "of": "of",
        "Passed": "passed",
        "Failed": "failed",
        "Outcome unknown": "unknown",
    }
    caption = "Every trial found, by what became of it. Each missing one is in <dataset>/attrition.csv."
    return _table(("attrition", "From trials to trajectories", caption), rows, columns, simulated)


def deviation_table(rows: Sequence[DeviationCount], simulated: Mapping[str, str]) -> Table:
    """Return `deviations`."""
    columns = {"Dataset": "dataset", "Code": "code", "Times": "times", "Trials with it": "trials", "of": "of"}
    caption = (
        "What in the raw files was not as their format says. Reading goes on after each; every case with its "
        "file is in <dataset>/ingest.csv."
    )
    return _table(("deviations", "Deviations in the raw files", caption), rows, columns, simulated)
