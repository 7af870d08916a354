"""The table every question is asked of: a row a trajectory, with its outcome, features and verdicts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Final

from coherence.errors import InputError
from coherence.evaluation.render import Cell, exact
from coherence.judges.samples import majority
from coherence.records import (
    Entry,
    Judgement,
    JudgementState,
    OutcomeStatus,
    Record,
    Span,
    Substrate,
    TrialStatus,
)


class Verdict(Record, frozen=True):
    """What one judge made of one trajectory, as numbers; `spans` counts those that flag, None if unknown.

    `unverified` counts the spans kept that do not flag, for their acknowledgment quote is absent.
    """

    state: JudgementState
    reason: str | None = None
    spans: int | None = 0
    max_confidence: int | None = None
    first_acknowledgment_step: int | None = None
    rating: int | None = None
    substrate: Substrate = "unknown"
    unverified: int = 0


class Row(Record, frozen=True):
    """One trajectory in the table; `excluded` says why it takes no part in any comparison.

    Every row of a dataset has every feature (None where it is not known) and a verdict of every judge.
    """

    id: str
    dataset: str
    task: str
    attempt: str
    outcome: OutcomeStatus
    status: TrialStatus
    backbone: str | None = None
    scaffold: str | None = None
    outcome_reason: str | None = None
    reward: float | None = None
    exception: str | None = None
    weight: float | None = None
    excluded: str | None = None
    features: dict[str, float | None] = {}
    verdicts: dict[str, Verdict] = {}


MISSING: Final = Verdict("unjudged", reason="missing")
PLAIN: Final = tuple(name for name in Row.__struct_fields__ if name not in ("features", "verdicts"))


def build_rows(
    entries: Sequence[Entry],
    features: Mapping[str, Mapping[str, float | None]],
    judgements: Mapping[str, Sequence[Judgement]],
    exclusions: Mapping[str, str],
) -> tuple[Row, ...]:
    """Return the rows of one dataset in the order of its entries.

    `features` is by trajectory id, `judgements` by judge, `exclusions` gives the reason by trial id; what
    entries bring themselves is used where nothing else is given. Of several samples the majority counts.
    Raise InputError where two trials share an id.
    """
    _check_ids(entries)
    measured = {entry.trial.id: {**entry.features, **features.get(entry.trial.id, {})} for entry in entries}
    names = sorted({name for values in measured.values() for name in values})
    heard = _by_judge(entries, judgements)
    return tuple(
        _row(
            entry,
            exclusions,
            {name: measured[entry.trial.id].get(name) for name in names},
            {judge: words.get(entry.trial.id, MISSING) for judge, words in heard.items()},
        )
        for entry in entries
    )


def by_dataset(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each dataset, datasets in order of appearance."""
    datasets: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        datasets[row.dataset].append(row)
    return datasets


def known(row: Row, feature: str) -> float | None:
    """Return the value of a row's feature, None where it is unknown or no number."""
    value = row.features.get(feature)
    return None if value is None or isnan(value) else value


def verdict(judgement: Judgement) -> Verdict:
    """Return the judgement as numbers."""
    spans = [span for span in judgement.spans if span.flags]
    return Verdict(
        state=judgement.state,
        reason=judgement.reason,
        spans=len(spans) if judgement.spans_known else None,
        max_confidence=max((span.confidence for span in spans if span.confidence is not None), default=None),
        first_acknowledgment_step=min(map(_place, spans), default=None),
        rating=judgement.rating,
        substrate=judgement.substrate,
        unverified=len(judgement.spans) - len(spans),
    )


def _place(span: Span) -> int:
    """Return the step of the acknowledgment: where its quote was found, else where the judge says."""
    found = span.acknowledgment_check.step
    return span.acknowledgment_step if found is None else found


def columns(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the columns of `table.csv`: those of the trial, `feature.<name>`, then `<judge>.<field>`.

    Raise InputError where a judge or feature is named so that two columns would have one name.
    """
    rows = list(rows)
    features = sorted({name for row in rows for name in row.features})
    judges = sorted({judge for row in rows for judge in row.verdicts})
    names = [*PLAIN, *(f"feature.{name}" for name in features)]
    names += [f"{judge}.{field}" for judge in judges for field in Verdict.__struct_fields__]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"table.csv: two columns would be named {twice[0]!r}: rename the judge or feature")
    return tuple(names)


def cells(row: Row) -> dict[str, Cell]:
    """Return the row under the names of `columns`, as CSV shows it."""
    flat: dict[str, Cell] = {name: getattr(row, name) for name in PLAIN}
    flat |= {f"feature.{name}": value for name, value in row.features.items()}
    for judge, word in row.verdicts.items():
        flat |= {f"{judge}.{field}": getattr(word, field) for field in Verdict.__struct_fields__}
    return {name: exact(value) for name, value in flat.items()}


def _by_judge(
    entries: Sequence[Entry], judgements: Mapping[str, Sequence[Judgement]]
) -> dict[str, dict[str, Verdict]]:
    own = [word for entry in entries for word in entry.judgements]
    judges = sorted({*judgements, *(word.judge for word in own)})
    heard: dict[str, dict[str, Verdict]] = {}
    for judge in judges:
        brought = majority(word for word in own if word.judge == judge)
        words = brought | majority(judgements.get(judge, ()))
        heard[judge] = {trajectory: verdict(word) for trajectory, word in words.items()}
    return heard


def _row(
    entry: Entry,
    exclusions: Mapping[str, str],
    features: dict[str, float | None],
    verdicts: dict[str, Verdict],
) -> Row:
    trial, outcome = entry.trial, entry.trial.outcome
    unreadable = trial.status.replace("_", " ") if trial.status in ("no_trajectory", "unreadable") else None
    return Row(
        id=trial.id,
        dataset=trial.dataset,
        task=trial.task,
        attempt=trial.attempt,
        outcome=outcome.status,
        status=trial.status,
        backbone=trial.backbone,
        scaffold=trial.scaffold,
        outcome_reason=outcome.reason,
        reward=outcome.reward,
        exception=outcome.exception,
        weight=trial.weight,
        excluded=exclusions.get(trial.id, unreadable),
        features=features,
        verdicts=verdicts,
    )


def _check_ids(entries: Iterable[Entry]) -> None:
    twice = [name for name, count in Counter(entry.trial.id for entry in entries).items() if count > 1]
    if twice:
        raise InputError(f"the trajectory id {twice[0]!r} stands for two trials of one dataset")
