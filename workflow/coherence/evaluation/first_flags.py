"""Where each flagged trajectory is first flagged, and what of it is over by then."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, by_dataset
from coherence.records import OutcomeStatus, Record


class Timeline(Record, frozen=True):
    """The numbers of a trajectory's non-empty steps, rising, and of those among them that bear a thought."""

    steps: tuple[int, ...]
    thought_steps: tuple[int, ...]


class Elapsed(Record, frozen=True):
    """What of a trajectory is over at a step: the share of non-empty steps up to it, and the steps left."""

    steps_left: int
    thought_steps_left: int
    share: float


class FirstFlag(Record, frozen=True):
    """Where one flagged trajectory first acknowledged a conflict.

    `elapsed` is None where that step is not known or is no non-empty step of the trajectory.
    """

    dataset: str
    judge: str
    trajectory: str
    outcome: OutcomeStatus
    step: int | None = None
    elapsed: Elapsed | None = None


def elapsed_at(step: int | None, timeline: Timeline | None) -> Elapsed | None:
    """Return what is over at a step, None where it is not one of the timeline's steps."""
    if step is None or timeline is None or step not in timeline.steps:
        return None
    steps, thoughts = timeline.steps, timeline.thought_steps
    over = bisect_right(steps, step)
    return Elapsed(len(steps) - over, len(thoughts) - bisect_right(thoughts, step), over / len(steps))


def first_flags(
    rows: Iterable[Row], timelines: Mapping[str, Mapping[str, Timeline]], settings: EvaluationSettings
) -> Iterator[FirstFlag]:
    """Yield the first flag of each flagged trajectory, by dataset and judge; excluded rows have none.

    `timelines` is by dataset, then by trajectory id.
    """
    for dataset, members in by_dataset(rows).items():
        places = timelines.get(dataset, {})
        for judge in settings.judges_in(members):
            for row in members:
                word = row.verdicts.get(judge, MISSING)
                if word.state == "flagged" and row.excluded is None:
                    step = word.first_acknowledgment_step
                    elapsed = elapsed_at(step, places.get(row.id))
                    yield FirstFlag(dataset, judge, row.id, row.outcome, step, elapsed)
