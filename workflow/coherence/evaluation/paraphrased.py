"""Flags before and after the thoughts were rewritten: pair by pair, and summed up with exact intervals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any, Final

from coherence.evaluation.readings import WITHOUT_SEEDS
from coherence.judges.samples import majority
from coherence.paraphrase.checks import Checked
from coherence.paraphrase.choosing import CHOSEN, Considered, surest
from coherence.paraphrase.rewriting import Manipulation
from coherence.records import Judgement, JudgementState, Record
from coherence.stats.proportions import Proportion, clopper_pearson, proportion
from coherence.vocabulary import ConflictType

ALL: Final = "all"
WITHOUT: Final = WITHOUT_SEEDS.lstrip(", ")
FAULTLESS: Final = "every check passed"
MISSING: Final = "missing"


class Manipulated(Record, frozen=True):
    """What one paraphrase made of one dataset, and one judge's words before and after it.

    `how` names the manipulation and what did it; `tasks` is by trajectory, `seeds` are tasks the judge's
    prompt quotes.
    """

    dataset: str
    paraphrase: str
    how: str
    manipulation: Manipulation
    judge: str
    considered: tuple[Considered, ...]
    checked: tuple[Checked, ...]
    before: tuple[Judgement, ...]
    after: tuple[Judgement, ...]
    tasks: dict[str, str] = {}
    seeds: tuple[str, ...] = ()
    simulated: str = ""


class Side(Record, frozen=True):
    """A judge's word on one side of the rewriting; `spans` are those that flag, None where not known.

    `types` are their types in alphabetical order, `surest_type` and `confidence` those of the surest span.
    """

    state: JudgementState
    reason: str | None = None
    spans: int | None = None
    types: tuple[ConflictType, ...] | None = None
    surest_type: ConflictType | None = None
    confidence: int | None = None

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict."""
        return self.state != "unjudged"


class Pair(Record, frozen=True):
    """One trajectory before and after; counts of markers and characters are over its thoughts.

    `faulty` counts thoughts that were rewritten and fail a check; what is not known is None.
    """

    dataset: str
    paraphrase: str
    how: str
    judge: str
    trajectory: str
    task: str
    is_seed: bool
    before: Side
    after: Side
    thoughts: int | None = None
    not_rewritten: int | None = None
    faulty: int | None = None
    characters_before: int | None = None
    characters_after: int | None = None
    markers_before: int | None = None
    markers_after: int | None = None
    is_faultless: bool = False
    simulated: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict on both sides."""
        return self.before.is_judged and self.after.is_judged

    @property
    def same_state(self) -> bool | None:
        """Whether the verdict stayed, None where there is none on a side."""
        return self.before.state == self.after.state if self.is_judged else None

    @property
    def same_surest_type(self) -> bool | None:
        """Whether the type of the surest span stayed, None where a side has no span."""
        ours, theirs = self.before.surest_type, self.after.surest_type
        return None if ours is None or theirs is None else ours == theirs

    @property
    def same_types(self) -> bool | None:
        """Whether the spans have the same types, None where a side has no span."""
        return self.before.types == self.after.types if self.before.types and self.after.types else None


class Summary(Record, frozen=True):
    """The pairs of one paraphrase, dataset and judge in one `reading`.

    `kept` is of those flagged before and judged after, `new` of those unflagged before and judged after;
    spans are summed over the pairs of `kept` that say where, types compared where both sides have a span,
    and confidences averaged where both sides give one.
    """

    dataset: str
    paraphrase: str
    how: str
    manipulation: Manipulation
    judge: str
    reading: str
    trajectories: int
    kept: Proportion
    new: Proportion
    same_surest_type: Proportion
    same_types: Proportion
    spans_n: int
    spans_before: int
    spans_after: int
    confidence_n: int
    confidence_before: float | None
    confidence_after: float | None
    unjudged: dict[str, int]
    not_chosen: dict[str, int]
    simulated: str = ""


def side(word: Judgement | None) -> Side:
    """Return a word as numbers; none is unjudged (missing)."""
    if word is None:
        return Side("unjudged", MISSING)
    if word.state == "unjudged":
        return Side("unjudged", word.reason)
    if not word.spans_known:
        return Side(word.state)
    spans = [span for span in word.spans if span.flags]
    kind, confidence = surest(word)
    types = tuple(sorted(span.conflict_type for span in spans))
    return Side(word.state, None, len(spans), types, kind, confidence)


def pairs(made: Manipulated) -> tuple[Pair, ...]:
    """Return the chosen trajectories, in their order, before and after."""
    before, after = majority(made.before), majority(made.after)
    checked = {row.rewritten.id: row for row in made.checked}
    return tuple(
        _pair(made, one, side(before.get(one)), side(after.get(one)), checked.get(one))
        for one in (row.trajectory for row in made.considered if row.standing == CHOSEN)
        if one is not None
    )


def summaries(made: Manipulated, found: Sequence[Pair]) -> Iterator[Summary]:
    """Yield the readings: all, without the prompt's own tasks, and where every check passed.

    A reading that leaves out nothing is not repeated, nor one by checks that had no text to be made on.
    """
    readings = {ALL: list(found), WITHOUT: [pair for pair in found if not pair.is_seed]}
    if any(pair.thoughts is not None for pair in found):
        readings[FAULTLESS] = [pair for pair in found if pair.is_faultless]
    for name, chosen in readings.items():
        if name == ALL or len(chosen) < len(found):
            yield _summary(made, name, chosen)


def _pair(made: Manipulated, trajectory: str, before: Side, after: Side, checked: Checked | None) -> Pair:
    task = made.tasks.get(trajectory, "")
    return Pair(
        dataset=made.dataset,
        paraphrase=made.paraphrase,
        how=made.how,
        judge=made.judge,
        trajectory=trajectory,
        task=task,
        is_seed=task in made.seeds,
        before=before,
        after=after,
        simulated=made.simulated,
        **({} if checked is None or not checked.rewritten.has_text else _measures(checked)),
    )


def _measures(checked: Checked) -> dict[str, Any]:
    thoughts = checked.checks
    lost = sum(thought.characters_after is None for thought in thoughts)
    return {
        "thoughts": len(thoughts),
        "not_rewritten": lost,
        "faulty": sum(bool(thought.problems) for thought in thoughts) - lost,
        "characters_before": sum(thought.characters for thought in thoughts),
        "characters_after": None if lost else sum(thought.characters_after or 0 for thought in thoughts),
        "markers_before": sum(thought.markers for thought in thoughts),
        "markers_after": None if lost else sum(thought.markers_after or 0 for thought in thoughts),
        "is_faultless": checked.is_faultless,
    }


def _summary(made: Manipulated, reading: str, found: Sequence[Pair]) -> Summary:
    flagged = [pair for pair in found if pair.is_judged and pair.before.state == "flagged"]
    unflagged = [pair for pair in found if pair.is_judged and pair.before.state == "unflagged"]
    placed = [(p.before.spans, p.after.spans) for p in flagged]
    spans = [(one, two) for one, two in placed if one is not None and two is not None]
    told = [(p.before.confidence, p.after.confidence) for p in flagged]
    sure = [(one, two) for one, two in told if one is not None and two is not None]
    return Summary(
        dataset=made.dataset,
        paraphrase=made.paraphrase,
        how=made.how,
        manipulation=made.manipulation,
        judge=made.judge,
        reading=reading,
        trajectories=len(found),
        kept=_share(pair.after.state == "flagged" for pair in flagged),
        new=_share(pair.after.state == "flagged" for pair in unflagged),
        same_surest_type=_share(pair.same_surest_type for pair in flagged),
        same_types=_share(pair.same_types for pair in flagged),
        spans_n=len(spans),
        spans_before=sum(one for one, _ in spans),
        spans_after=sum(two for _, two in spans),
        confidence_n=len(sure),
        confidence_before=mean(one for one, _ in sure) if sure else None,
        confidence_after=mean(two for _, two in sure) if sure else None,
        unjudged=_counted(f"{when} {why}" for pair in found for when, why in _unjudged(pair)),
        not_chosen=_counted(one.standing for one in made.considered if one.standing != CHOSEN),
        simulated=made.simulated,
    )


def _share(answers: Iterable[bool | None]) -> Proportion:
    known = [answer for answer in answers if answer is not None]
    return proportion(sum(known), len(known), clopper_pearson)


def _unjudged(pair: Pair) -> Iterator[tuple[str, str]]:
    for when, one in (("before", pair.before), ("after", pair.after)):
        if not one.is_judged:
            yield when, (one.reason or "reason unknown").replace("_", " ")


def _counted(reasons: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for reason in reasons:
        counts[reason] = counts.get(reason, 0) + 1
    return counts


def first_paraphrase(found: Sequence[Summary], dataset: str, judge: str) -> Mapping[str, Summary]:
    """Return by reading the first paraphrase in the narrow sense of a dataset and judge; {} if none."""
    fitting = [s for s in found if (s.dataset, s.judge, s.manipulation) == (dataset, judge, "paraphrase")]
    return {one.reading: one for one in fitting if one.paraphrase == fitting[0].paraphrase}
