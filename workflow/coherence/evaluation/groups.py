"""Which trajectories are risky and which are safe, as each feature and each judge has it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from statistics import median
from typing import Final, Literal

from msgspec.structs import replace

from coherence.evaluation.readings import (
    ABOVE_MEDIAN,
    ANY_SPAN,
    CONFIDENT,
    FLAGGED,
    NULL_UNFLAGGED,
    PRESENT,
    WITHOUT_SEEDS,
    Reading,
)
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import MISSING, Row, Verdict, by_dataset, known
from coherence.records import Record

RATING_ONLY: Final = "rating only"
RATED: Final = frozenset({RATING_ONLY, "unverified"})  # reasons that leave the rating standing
SEED: Final = "task of the judge's prompt"
Side = Literal["risky", "safe", "unjudged", "missing"]


class Split(Record, frozen=True):
    """A dataset divided by one reading; rows excluded, unjudged or without a value are only counted.

    Rows with an unknown outcome are in the groups, for no reading looks at the outcome.
    """

    reading: Reading
    risky: tuple[Row, ...]
    safe: tuple[Row, ...]
    unjudged: int
    missing: int
    excluded: int


def splits(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[Split]:
    """Yield every split: datasets in order of appearance, in each the judges before the features."""
    for members in by_dataset(rows).values():
        for judge in settings.judges_in(members):
            yield from judge_splits(
                members, judge, settings.rating_at_most.get(judge), settings.seeds.get(judge, ())
            )
            if settings.confidence_at_least is not None:
                yield from confident_split(members, judge, settings.confidence_at_least)
        for name in settings.features_in(members):
            yield feature_split(members, name)


def feature_split(rows: Sequence[Row], name: str) -> Split:
    """Divide one dataset by a feature: 1 is risky where all values are 0 or 1, else all above the median.

    Strictly above, and the median is that of all included rows with a value, whatever their outcome.
    """
    values = [value for row in rows if row.excluded is None and (value := known(row, name)) is not None]
    binary = set(values) <= {0, 1}
    cut = None if binary else float(median(values))

    def side(row: Row) -> Side:
        value = known(row, name)
        if value is None:
            return "missing"
        return "risky" if value > (cut or 0) else "safe"

    return _split(rows, Reading(rows[0].dataset, name, PRESENT if binary else ABOVE_MEDIAN, cut=cut), side)


def judge_splits(
    rows: Sequence[Row], judge: str, rating_at_most: int | None, seeds: Collection[str] = ()
) -> Iterator[Split]:
    """Divide one dataset by a judge: by its own word, or by spans and by rating where a threshold is given.

    Its own word is left out where it is the rating over again. Where a flag rests on spans without any
    confidence, the split without such flags follows; where the judge's prompt quotes tasks of the dataset
    (`seeds`), the split without these.
    """
    reading = Reading(rows[0].dataset, judge, FLAGGED, judge)
    side: Callable[[Verdict], Side] = _flagged
    if rating_at_most is not None and only_rates(rows, judge):
        reading = replace(reading, label=f"rating at most {rating_at_most}", cut=float(rating_at_most))
        side = _rated_at_most(rating_at_most)
    elif rating_at_most is not None:
        words = [row.verdicts.get(judge, MISSING) for row in rows]
        label, by = (
            (FLAGGED, _flagged) if any(word.spans is None for word in words) else (ANY_SPAN, _any_span)
        )
        spoken = _split(rows, replace(reading, label=label), _judged(judge, by))
        reading = replace(reading, label=f"rating at most {rating_at_most}", cut=float(rating_at_most))
        side = _rated_at_most(rating_at_most)
        if label != FLAGGED or not _same(spoken, _split(rows, reading, _judged(judge, side))):
            yield spoken
    yield _split(rows, reading, _judged(judge, side))
    words = [row.verdicts.get(judge, MISSING) for row in rows if row.excluded is None]
    if rating_at_most is None and any(word.state == "flagged" and _lacks_confidence(word) for word in words):
        yield _split(rows, replace(reading, label=NULL_UNFLAGGED), _judged(judge, _flagged_surely))
    if any(row.task in seeds for row in rows):
        unseen = [replace(row, excluded=row.excluded or SEED) if row.task in seeds else row for row in rows]
        yield _split(unseen, replace(reading, label=f"{reading.label}{WITHOUT_SEEDS}"), _judged(judge, side))


def _same(one: Split, two: Split) -> bool:
    """Whether two readings divide a dataset alike: a recorded flag may be the rating in other words."""
    return (one.risky, one.safe) == (two.risky, two.safe)


def only_rates(rows: Iterable[Row], judge: str) -> bool:
    """Whether a judge flags nothing by itself: it gives ratings, and at least one."""
    words = [row.verdicts.get(judge, MISSING) for row in rows]
    rated = any(word.reason == RATING_ONLY for word in words)
    return rated and all(word.state == "unjudged" for word in words)


def confident_split(rows: Sequence[Row], judge: str, at_least: int) -> Iterator[Split]:
    """Yield one dataset divided by flags of at least this confidence, if the judge gives any confidence."""
    words = [row.verdicts.get(judge, MISSING) for row in rows]
    if any(word.max_confidence is not None for word in words):
        reading = Reading(rows[0].dataset, judge, f"{CONFIDENT}{at_least}", judge, float(at_least))
        yield _split(rows, reading, _judged(judge, _confident(at_least)))


def _split(rows: Sequence[Row], reading: Reading, side: Callable[[Row], Side]) -> Split:
    groups: dict[Side, list[Row]] = {"risky": [], "safe": [], "unjudged": [], "missing": []}
    included = [row for row in rows if row.excluded is None]
    for row in included:
        groups[side(row)].append(row)
    return Split(
        reading=reading,
        risky=tuple(groups["risky"]),
        safe=tuple(groups["safe"]),
        unjudged=len(groups["unjudged"]),
        missing=len(groups["missing"]),
        excluded=len(rows) - len(included),
    )


def _judged(judge: str, read: Callable[[Verdict], Side]) -> Callable[[Row], Side]:
    return lambda row: read(row.verdicts.get(judge, MISSING))


def _by_state(word: Verdict, risky: bool) -> Side:
    if word.state == "unjudged":
        return "unjudged"
    return "risky" if risky else "safe"


def _flagged(word: Verdict) -> Side:
    return _by_state(word, word.state == "flagged")


def _any_span(word: Verdict) -> Side:
    if word.state != "unjudged" and not word.spans and word.unverified:
        return "missing"
    return _by_state(word, bool(word.spans))


def _flagged_surely(word: Verdict) -> Side:
    return _by_state(word, word.state == "flagged" and not _lacks_confidence(word))


def _lacks_confidence(word: Verdict) -> bool:
    return bool(word.spans) and word.max_confidence is None


def _rated_at_most(threshold: int) -> Callable[[Verdict], Side]:
    def side(word: Verdict) -> Side:
        if word.state == "unjudged" and word.reason not in RATED:
            return "unjudged"
        if word.rating is not None:
            return "risky" if word.rating <= threshold else "safe"
        # Without a thought there was nothing to rate: unflagged, as in every other reading.
        return "safe" if word.substrate == "none" else "missing"

    return side


def _confident(at_least: int) -> Callable[[Verdict], Side]:
    return lambda word: _by_state(word, word.state == "flagged" and (word.max_confidence or 0) >= at_least)
