"""Where both questions meet: whether a flag goes with the bias of a task's attempts or with their scatter.

Between tasks, flags that mark tasks which keep failing go with bias. Within a task all attempts have the same
bias: there, a flag on the attempts that fail goes with scatter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from coherence.evaluation.groups import Split, judge_splits
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.repeated import Group
from coherence.evaluation.table import Row
from coherence.incoherence.aggregates import Aggregate, aggregate
from coherence.incoherence.parts import Floats
from coherence.incoherence.trends import Trend, trend
from coherence.records import Record
from coherence.stats.strata import AdjustedGap, exact_cmh, mantel_haenszel
from coherence.stats.tables import Counts

BINARY: Final = "passed"


class Meeting(Record, frozen=True):
    """One judge's flags on the repeated attempts of one group.

    `flagged` and `others` are the parts of tasks with and without a flagged attempt; `with_bias` and
    `with_variance` say how the share of a task's attempts that is flagged goes with its parts; `within` is
    the gap in failure rate of flagged less other attempts, tasks being strata. `unjudged` attempts are left
    out, as are those of unknown outcome and those `without_trajectory`; those `without_thoughts` count as
    unflagged.
    """

    dataset: str
    group: str
    judge: str
    reading: str
    kind: str
    attempts: int
    flags: int
    flagged: Aggregate
    others: Aggregate
    with_bias: Trend
    with_variance: Trend
    within: AdjustedGap | None
    exact_p: float | None
    telling_tasks: int
    unjudged: int
    unknown_outcome: int
    without_trajectory: int = 0
    without_thoughts: int = 0
    simulated: str = ""

    @property
    def tasks(self) -> int:
        """Tasks with judged attempts and known parts."""
        return self.flagged.items + self.others.items


class Attempt(NamedTuple):
    """A judged attempt with a known outcome."""

    task: str
    flagged: bool
    failed: bool


class Judges(Record, frozen=True):
    """Judges in order, and of those that rate the highest rating that counts as a flag."""

    names: tuple[str, ...] = ()
    rating_at_most: dict[str, int] = {}


NOBODY: Final = Judges()


def meetings(
    groups: Iterable[Group], rows: Sequence[Row], judges: Judges, settings: IncoherenceSettings
) -> Iterator[Meeting]:
    """Yield each judge that flags any attempt of a group whose attempts have trajectories among the rows."""
    by_id = {(row.dataset, row.id): row for row in rows}
    for group in groups:
        own = _rows_of(group, by_id)
        main = main_parts(group, settings) if own else None
        if main is not None:
            for judge in judges.names:
                split = _split(own, judge, judges.rating_at_most.get(judge))
                if split.risky:
                    yield _meeting(main, split, len(own))


def _split(rows: Sequence[Row], judge: str, rating_at_most: int | None) -> Split:
    """Return the judge's main reading: by its rating where it has a threshold, else by its own word."""
    readings = judge_splits(rows, judge, rating_at_most)
    return next(split for split in readings if split.reading.cut == rating_at_most)


def _rows_of(group: Group, by_id: Mapping[tuple[str, str], Row]) -> list[Row]:
    names = group.frame["trajectory"].dropna()
    found = (by_id.get((group.dataset, str(name))) for name in names)
    return [row for row in found if row is not None]


def _meeting(main: MainParts, split: Split, found: int) -> Meeting:
    """Return one judge on one group, `found` of whose attempts have a trajectory."""
    sides = [(row, True) for row in split.risky] + [(row, False) for row in split.safe]
    used = [(row, flagged) for row, flagged in sides if row.outcome != "unknown"]
    attempts = [Attempt(row.task, flagged, row.outcome == "failed") for row, flagged in used]
    share = _share_flagged(main, attempts)
    parts, known = main.parts, ~np.isnan(share) & main.parts.known
    strata = list(_strata(attempts))
    exact = exact_cmh(strata)
    return Meeting(
        dataset=main.dataset,
        group=main.group.name,
        judge=split.reading.name,
        reading=split.reading.label,
        kind=main.kind,
        attempts=len(attempts),
        flags=sum(attempt.flagged for attempt in attempts),
        flagged=aggregate(parts.take(known & (share > 0))),
        others=aggregate(parts.take(known & (share == 0))),
        with_bias=trend(share[known], parts.bias[known]),
        with_variance=trend(share[known], parts.variance[known]),
        within=mantel_haenszel(strata),
        exact_p=exact.two_sided if exact else None,
        telling_tasks=sum(
            stratum.not_applicable is None and 0 < stratum.risky_fail + stratum.safe_fail < stratum.n
            for stratum in strata
        ),
        unjudged=split.unjudged + split.missing,
        unknown_outcome=len(sides) - len(attempts),
        without_trajectory=len(main.group.frame) - found,
        without_thoughts=sum(row.verdicts[split.reading.judge].substrate == "none" for row, _ in used),
        simulated=main.group.simulated,
    )


def _share_flagged(main: MainParts, attempts: Sequence[Attempt]) -> Floats:
    """Return for each item the share of its judged attempts that is flagged, NaN where there is none."""
    counts: dict[str, list[int]] = {}
    for attempt in attempts:
        count = counts.setdefault(attempt.task, [0, 0])
        count[0] += attempt.flagged
        count[1] += 1
    names = [str(main.group.tasks[task]) for task in main.attempts.tasks]
    return np.array([np.nan if name not in counts else counts[name][0] / counts[name][1] for name in names])


def _strata(attempts: Sequence[Attempt]) -> Iterator[Counts]:
    by_task: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_task.setdefault(attempt.task, []).append(attempt)
    for same in by_task.values():
        risky = [attempt.failed for attempt in same if attempt.flagged]
        safe = [attempt.failed for attempt in same if not attempt.flagged]
        yield Counts(sum(risky), len(risky), sum(safe), len(safe))
