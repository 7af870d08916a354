"""Runs as a judge sees them on the way: growing prefixes, and where hindsight would have put the flag."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, Verdict, by_dataset
from coherence.judges.samples import majority
from coherence.records import JudgementState, OutcomeStatus, PrefixJudgement, Record

Prefixed = Mapping[str, Mapping[str, Iterable[PrefixJudgement]]]  # by dataset, then by judge


class Look(Record, frozen=True):
    """What a judge made of the first `steps` non-empty steps of a run."""

    steps: int
    state: JudgementState


class Watched(Record, frozen=True):
    """One run on the way: all counts are of non-empty steps from its beginning, None where there is none.

    `looks` prefixes were judged, `unjudged` of them in vain, `unjudged_before` of these before the flag.
    `flagged_after` is the length of the shortest prefix that flags; `wavered` where a longer one does not.
    `whole` is the word on the whole run, `place` its first acknowledgment, and `seen_after` the length of
    the shortest prefix that holds it, the run's own where none does.
    """

    dataset: str
    judge: str
    trajectory: str
    outcome: OutcomeStatus
    length: int
    looks: int
    unjudged: int
    whole: JudgementState
    unjudged_before: int = 0
    flagged_after: int | None = None
    wavered: bool = False
    place: int | None = None
    seen_after: int | None = None
    simulated: str = ""

    @property
    def fate(self) -> JudgementState:
        """Whether it is flagged on the way; unjudged where no prefix flags and one of them is unjudged."""
        if self.flagged_after is not None:
            return "flagged"
        return "unjudged" if self.unjudged else "unflagged"

    @property
    def is_known(self) -> bool:
        """Whether its fate, the word on the whole, and the place of that flag are known."""
        placed = self.whole != "flagged" or self.place is not None
        return self.fate != "unjudged" and self.whole != "unjudged" and placed

    @property
    def steps_left(self) -> int | None:
        """What was still to come when it was flagged."""
        return None if self.flagged_after is None else self.length - self.flagged_after

    @property
    def gain(self) -> int | None:
        """The hindsight gain: steps from the place the whole run's flag points to, to the flagging prefix."""
        if self.flagged_after is None or self.place is None:
            return None
        return self.flagged_after - self.place

    @property
    def waited(self) -> int | None:
        """The grid's part of the gain: steps from the place to the first look that holds it."""
        return None if self.place is None or self.seen_after is None else self.seen_after - self.place


def watched(
    rows: Iterable[Row],
    prefixed: Prefixed,
    timelines: Mapping[str, Mapping[str, Timeline]],
    settings: EvaluationSettings,
) -> Iterator[Watched]:
    """Yield every run of which prefixes were to be judged; those left out of comparisons are not watched."""
    members = by_dataset(rows)
    for dataset, by_judge in prefixed.items():
        places = timelines.get(dataset, {})
        for judge, words in by_judge.items():
            said = _by_trajectory(words)
            for row in members.get(dataset, ()):
                timeline = places.get(row.id)
                if row.excluded is None and timeline is not None and timeline.steps:
                    looks = looks_of(said.get(row.id, ()))
                    verdict = row.verdicts.get(judge, MISSING)
                    yield _watched((row, judge), looks, verdict, timeline, settings)


def looks_of(words: Iterable[PrefixJudgement]) -> list[Look]:
    """Return the looks at one run, the shortest prefix first; of several samples the majority counts."""
    lengths: dict[int, list[PrefixJudgement]] = defaultdict(list)
    for word in words:
        lengths[word.steps_read].append(word)
    return [
        Look(steps, word.state)
        for steps, samples in sorted(lengths.items())
        for word in majority(samples).values()
    ]


def _by_trajectory(words: Iterable[PrefixJudgement]) -> dict[str, list[PrefixJudgement]]:
    found: dict[str, list[PrefixJudgement]] = defaultdict(list)
    for word in words:
        # There are many to a run, and what each says in full is not looked at here.
        found[word.trajectory].append(replace(word, spans=(), summary="", detail="", replies=()))
    return found


def _watched(
    who: tuple[Row, str],
    looks: Sequence[Look],
    whole: Verdict,
    timeline: Timeline,
    settings: EvaluationSettings,
) -> Watched:
    (row, judge), length = who, len(timeline.steps)
    flagged = next((look.steps for look in looks if look.state == "flagged"), None)
    place = _place(whole, timeline)
    ends = (*(look.steps for look in looks), length)
    return Watched(
        dataset=row.dataset,
        judge=judge,
        trajectory=row.id,
        outcome=row.outcome,
        length=length,
        looks=len(looks),
        unjudged=sum(look.state == "unjudged" for look in looks),
        whole=whole.state,
        unjudged_before=sum(
            look.state == "unjudged" and flagged is not None and look.steps < flagged for look in looks
        ),
        flagged_after=flagged,
        wavered=flagged is not None
        and any(look.state == "unflagged" and look.steps > flagged for look in looks),
        place=place,
        seen_after=None if place is None else next(end for end in ends if end >= place),
        simulated=settings.simulated.get(row.dataset, ""),
    )


def _place(whole: Verdict, timeline: Timeline) -> int | None:
    step = whole.first_acknowledgment_step
    if whole.state != "flagged" or step is None or step not in timeline.steps:
        return None
    return bisect_right(timeline.steps, step)
