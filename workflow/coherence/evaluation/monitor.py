"""What a monitor would have saved or destroyed that halts a run at the first prefix its judge flags."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.prefix_table import middle, share
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.watched import Watched
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.medians import METHOD, Summary, summarise
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion


class Monitor(Record, frozen=True):
    """One judge as a monitor of one dataset's runs.

    `failures` are those stopped of the failures it could tell about, `passes` those lost; `right` the
    failures among all it halts, `base` the failures among all runs with an outcome it could tell about.
    `saved` and `lost` are the steps still to come in each failure stopped and each pass lost, `saved_steps`
    and `lost_steps` their sums, of `failure_steps` and `pass_steps` in all.
    """

    dataset: str
    judge: str
    failures: Proportion
    passes: Proportion
    right: Proportion
    base: Proportion
    saved: Summary
    lost: Summary
    saved_steps: int
    lost_steps: int
    failure_steps: int
    pass_steps: int
    halted_unknown: int
    unjudged_failures: int
    unjudged_passes: int
    unknown: int
    simulated: str = ""


def monitors(runs: Iterable[Watched]) -> Iterator[Monitor]:
    """Yield each judge of each dataset as a monitor."""
    for (dataset, judge), group in groupby(runs, key=lambda run: (run.dataset, run.judge)):
        yield _monitor(dataset, judge, list(group))


def _monitor(dataset: str, judge: str, runs: Sequence[Watched]) -> Monitor:
    failed = [run for run in runs if run.outcome == "failed"]
    passed = [run for run in runs if run.outcome == "passed"]
    told = [[run for run in side if run.fate != "unjudged"] for side in (failed, passed)]
    halted = [[run for run in side if run.fate == "flagged"] for side in (failed, passed)]
    saved, lost = ([run.steps_left or 0 for run in side] for side in halted)
    return Monitor(
        dataset=dataset,
        judge=judge,
        failures=share(told[0], lambda run: run.fate == "flagged"),
        passes=share(told[1], lambda run: run.fate == "flagged"),
        right=share([*halted[0], *halted[1]], lambda run: run.outcome == "failed"),
        base=share([*told[0], *told[1]], lambda run: run.outcome == "failed"),
        saved=summarise(saved),
        lost=summarise(lost),
        saved_steps=sum(saved),
        lost_steps=sum(lost),
        failure_steps=sum(run.length for run in told[0]),
        pass_steps=sum(run.length for run in told[1]),
        halted_unknown=sum(run.outcome == "unknown" and run.fate == "flagged" for run in runs),
        unjudged_failures=len(failed) - len(told[0]),
        unjudged_passes=len(passed) - len(told[1]),
        unknown=sum(run.outcome == "unknown" for run in runs),
        simulated=runs[0].simulated,
    )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    **proportion_fields("failures", "failures_stopped", "failures_share"),
    **proportion_fields("passes", "passes_lost", "passes_share"),
    **proportion_fields("right", "halted_failed", "halted_failed_share"),
    **proportion_fields("base", "all_failed", "all_failed_share"),
    "steps_saved": "saved_steps",
    "steps_of_failures": "failure_steps",
    "steps_saved_median": "saved.median",
    "steps_saved_low": "saved.interval.low",
    "steps_saved_high": "saved.interval.high",
    "steps_lost": "lost_steps",
    "steps_of_passes": "pass_steps",
    "steps_lost_median": "lost.median",
    "steps_lost_low": "lost.interval.low",
    "steps_lost_high": "lost.interval.high",
    "interval": "saved.interval.method",
    "n_unjudged_failures": "unjudged_failures",
    "n_unjudged_passes": "unjudged_passes",
    "n_halted_of_unknown_outcome": "halted_unknown",
    "n_unknown_outcome": "unknown",
    "simulated": "simulated",
}


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({wording.percent(part / whole)} %)" if whole else "")


_COLUMNS: Final[dict[str, Callable[[Monitor], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Failures stopped": lambda row: wording.proportion(row.failures),
    "Passes lost": lambda row: wording.proportion(row.passes),
    "Failures among those halted": lambda row: wording.proportion(row.right),
    "among all": lambda row: wording.proportion(row.base),
    "Steps saved": lambda row: _of(row.saved_steps, row.failure_steps),
    "a failure stopped": lambda row: middle(row.saved),
    "Steps cut off passes": lambda row: _of(row.lost_steps, row.pass_steps),
    "a pass lost": lambda row: middle(row.lost),
    "It could not say of": lambda row: wording.left_out(
        failed=row.unjudged_failures, passed=row.unjudged_passes
    ),
    "Left out": lambda row: wording.left_out(unknown_outcome=row.unknown),
}


def table(rows: Sequence[Monitor]) -> Table:
    """Return `monitor`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="monitor",
        title="A monitor that halts at the first flag",
        caption=(
            "What would have become of the recorded runs had each been halted at the shortest prefix that "
            "the judge flags. Shares: count/n (in %; "
            f"{LEVEL_TEXT} {CLOPPER_PEARSON} interval), n without the runs it could not say anything of: no "
            "prefix flags and one of them is unjudged. Failures among those halted stand beside failures "
            "among all it could say something of: a monitor that halts at random stops as many passes as "
            "their share. Steps saved: non-empty steps still to come in the failures stopped, of all steps "
            f"of failures; a failure stopped: median (interval by {METHOD}, at least {LEVEL_TEXT}; none "
            "below 6 values). Halting mends nothing: what a run would have made of a warning is not known."
        ),
    )
