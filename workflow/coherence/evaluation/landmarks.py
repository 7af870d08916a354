"""Flags as they are met on the way: time to the first one, and what a flag by some step says of the end.

A long trajectory has more chances to be flagged, and a flag near the end is read after the fact. So time to
the first flag is estimated with trajectories that end unflagged as censored, and at each landmark only
trajectories that go on are compared, by what was flagged by then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.failure_rates import with_outcome
from coherence.evaluation.first_flags import Timeline, elapsed_at
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, by_dataset
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.survival import (
    KAPLAN_MEIER,
    LOG_RANK,
    Curve,
    Run,
    Waiting,
    kaplan_meier,
    landmark,
    log_rank,
)
from coherence.stats.tables import FISHER, NEWCOMBE, Comparison, compare


class FlagCurves(Record, frozen=True):
    """Time to the first flag of one judge in non-empty steps: of all runs, and of each outcome's.

    `left_out` counts judged trajectories without a timeline, or flagged at no step of it.
    """

    dataset: str
    judge: str
    runs: tuple[Run, ...]
    all: Curve | None
    failed: Curve | None
    passed: Curve | None
    log_rank_p: float | None
    left_out: int
    simulated: str = ""


class Landmark(Record, frozen=True):
    """What is known after a number of steps: the shares flagged by then, and how the runs that go on end."""

    curves: FlagCurves
    after: int
    flagged_failed: float | None
    flagged_passed: float | None
    flagged: float
    interval: Interval | None
    comparison: Comparison


def flag_curves(
    rows: Sequence[Row], timelines: Mapping[str, Mapping[str, Timeline]], settings: EvaluationSettings
) -> Iterator[FlagCurves]:
    """Yield the curves of each judge in each dataset; `timelines` is by dataset, then trajectory id."""
    for dataset, members in by_dataset(rows).items():
        for judge in settings.judges_in(members):
            if judge not in settings.rating_at_most:
                yield _curves(dataset, judge, members, (timelines.get(dataset, {}), settings))


def landmarks(curves: Sequence[FlagCurves]) -> Iterator[Landmark]:
    """Yield each judge's landmarks: the quartiles of the lengths of its trajectories."""
    for found in curves:
        if found.all is not None:
            for after in quartiles([int(run.length) for run in found.runs]):
                yield Landmark(
                    curves=found,
                    after=after,
                    flagged_failed=found.failed.at(after).share if found.failed else None,
                    flagged_passed=found.passed.at(after).share if found.passed else None,
                    flagged=found.all.at(after).share,
                    interval=found.all.interval_at(after),
                    comparison=compare(landmark(found.runs, after)),
                )


def quartiles(lengths: Sequence[int]) -> list[int]:
    """Return the lengths at a quarter, half and three quarters of the sorted lengths, each once."""
    ordered = sorted(lengths)
    return sorted({ordered[len(ordered) * part // 4] for part in (1, 2, 3)}) if ordered else []


def _curves(
    dataset: str,
    judge: str,
    rows: Sequence[Row],
    told: tuple[Mapping[str, Timeline], EvaluationSettings],
) -> FlagCurves:
    timelines, settings = told
    judged = [
        row
        for row in with_outcome(rows)
        if row.excluded is None and row.verdicts.get(judge, MISSING).state != "unjudged"
    ]
    runs = tuple(run for row in judged if (run := _run(row, judge, timelines.get(row.id))) is not None)
    waits = {outcome: [_wait(run) for run in runs if run.failed == outcome] for outcome in (True, False)}
    return FlagCurves(
        dataset=dataset,
        judge=judge,
        runs=runs,
        all=kaplan_meier([*waits[True], *waits[False]]),
        failed=kaplan_meier(waits[True]),
        passed=kaplan_meier(waits[False]),
        log_rank_p=log_rank(waits[True], waits[False]),
        left_out=len(judged) - len(runs),
        simulated=settings.simulated.get(dataset, ""),
    )


def _run(row: Row, judge: str, timeline: Timeline | None) -> Run | None:
    if timeline is None or not timeline.steps:
        return None
    word, length = row.verdicts[judge], len(timeline.steps)
    if word.state != "flagged":
        return Run(length, None, row.outcome == "failed")
    elapsed = elapsed_at(word.first_acknowledgment_step, timeline)
    return None if elapsed is None else Run(length, length - elapsed.steps_left, row.outcome == "failed")


def _wait(run: Run) -> Waiting:
    return Waiting(run.length, False) if run.first_flag is None else Waiting(run.first_flag, True)


FIELDS: Final[dict[str, str]] = {
    "dataset": "curves.dataset",
    "judge": "curves.judge",
    "n": "curves.all.n",
    "n_flagged": "curves.all.flagged",
    "median_steps_to_flag": "curves.all.median",
    "log_rank_p": "curves.log_rank_p",
    "after_steps": "after",
    "flagged_by_then": "flagged",
    "flagged_by_then_low": "interval.low",
    "flagged_by_then_high": "interval.high",
    "flagged_by_then_failed": "flagged_failed",
    "flagged_by_then_passed": "flagged_passed",
    "n_going_on": "comparison.counts.n",
    "risky_fail": "comparison.counts.risky_fail",
    "risky_n": "comparison.counts.risky_n",
    "safe_fail": "comparison.counts.safe_fail",
    "safe_n": "comparison.counts.safe_n",
    "gap": "comparison.gap",
    "gap_low": "comparison.interval.low",
    "gap_high": "comparison.interval.high",
    "fisher_p": "comparison.fisher_p",
    "n_left_out": "curves.left_out",
    "simulated": "curves.simulated",
}


def _share(value: float | None) -> str:
    return wording.NONE if value is None else f"{wording.percent(value)} %"


def _flagged(row: Landmark) -> str:
    bounds = f" ({wording.percents(row.interval)})" if row.interval else ""
    return f"{_share(row.flagged)}{bounds}"


_COLUMNS: Final[dict[str, Callable[[Landmark], str]]] = {
    "Dataset": lambda row: marked(row.curves.dataset, row.curves.simulated),
    "Judge": lambda row: row.curves.judge,
    "After steps": lambda row: wording.count(row.after),
    "n": lambda row: wording.count(len(row.curves.runs)),
    "Flagged by then": _flagged,
    "of failures": lambda row: _share(row.flagged_failed),
    "of passes": lambda row: _share(row.flagged_passed),
    "Log-rank p": lambda row: wording.p_value(row.curves.log_rank_p),
    "Going on, failed": lambda row: wording.counts(row.comparison.counts),
    "Gap": lambda row: wording.gap(row.comparison),
    "p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Left out": lambda row: wording.left_out(not_placed=row.curves.left_out),
}


def table(rows: Sequence[Landmark]) -> Table:
    """Return `landmark`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="landmark",
        title="Flags on the way: time to the first, and landmarks",
        caption=(
            "Judged trajectories with a known outcome and timeline, in non-empty steps; landmarks are the "
            f"quartiles of their lengths. Flagged by then: {KAPLAN_MEIER} ({LEVEL_TEXT}), unflagged "
            f"trajectories censored at their end. {LOG_RANK}: failures against passes, over all steps. Going "
            "on: trajectories longer than the landmark, risky if flagged by then; gap in percentage points "
            f"({LEVEL_TEXT} {NEWCOMBE} interval), p: {FISHER}. Not placed: no text, or flagged at no "
            "step of it."
        ),
    )
