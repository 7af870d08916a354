"""Which flagged trajectories are chosen, and that whatever is not says why."""

from collections import Counter

import msgspec
import pytest
from rewriting_samples import flagged, span, unflagged, unjudged

from coherence.paraphrase.choosing import CHOSEN, Choice, Considered, choose, surest
from coherence.records import Judgement, Outcome, Trial
from coherence.vocabulary import CONFLICT_TYPES

KINDS = tuple(CONFLICT_TYPES)


def trial(number: int, task: str = "", status: str = "ok") -> Trial:
    raw = {
        "id": f"t{number}",
        "dataset": "d",
        "task": task or f"task-{number}",
        "attempt": f"attempt-{number}",
        "root": "r",
        "key": "k",
        "outcome": Outcome("failed"),
        "status": status,
    }
    return msgspec.convert(raw, Trial)


def words(*found: Judgement) -> dict[str, Judgement]:
    return {word.trajectory: word for word in found}


def many(per_cell: int = 3) -> tuple[list[Trial], dict[str, Judgement]]:
    """Flags of every type and confidence."""
    cells = [(kind, level) for kind in KINDS for level in range(1, 6) for _ in range(per_cell)]
    said = [flagged(f"t{n}", span(kind, level)) for n, (kind, level) in enumerate(cells)]
    return [trial(n) for n in range(len(cells))], words(*said)


def taken(found: tuple[Considered, ...]) -> list[Considered]:
    return [one for one in found if one.standing == CHOSEN]


def test_a_sample_has_every_type_and_spreads_over_the_confidences() -> None:
    chosen = taken(choose(*many(), Choice(size=12)))
    assert Counter(one.conflict_type for one in chosen) == dict.fromkeys(KINDS, 2)
    assert Counter(one.confidence for one in chosen) == {2: 4, 3: 4, 4: 4}


def test_the_same_seed_draws_the_same_and_another_one_others() -> None:
    first, again, other = (taken(choose(*many(), Choice(size=6, seed=seed))) for seed in (1, 1, 2))
    assert first == again != other


def test_the_order_of_the_trials_draws_nothing() -> None:
    trials, said = many()
    straight, back = (choose(order, said, Choice(size=6)) for order in (trials, trials[::-1]))
    assert {one.trajectory for one in taken(straight)} == {one.trajectory for one in taken(back)}


def test_without_a_size_all_that_qualify_are_taken_and_the_rest_say_why() -> None:
    trials = [trial(n) for n in range(8)] + [trial(8, status="no_text")]
    said = words(
        flagged("t0", span("other", 3)),
        flagged("t1", span("other", 5)),
        flagged("t2", span("other", None)),
        flagged("t3"),
        flagged("t4", span("other", 3, flags=False)),
        unflagged("t5"),
        unjudged("t6", "refusal"),
        flagged("t8", span("other", 3)),
    )
    found = choose(trials, said, Choice())
    assert {one.trajectory: one.standing for one in found} == {
        "t0": CHOSEN,
        "t1": "confidence out of range",
        "t2": "no confidence given",
        "t3": "flagged without a span",
        "t4": "flagged without a span",
        "t8": "without text",
    }


def test_what_a_sample_leaves_is_counted() -> None:
    found = choose(*many(per_cell=1), Choice(size=4, confidence=(1, 5)))
    assert Counter(one.standing for one in found) == {CHOSEN: 4, "not in the sample": len(KINDS) * 5 - 4}


def test_names_are_ids_tasks_or_attempts_whatever_their_confidence() -> None:
    trials = [trial(0, "a"), trial(1, "b"), trial(2, "c"), trial(3, "a")]
    said = words(*(flagged(f"t{n}", span("other", 5)) for n in range(4)))
    found = choose(trials, said, Choice(named=("a", "attempt-1", "t2")))
    assert [(one.trajectory, one.name) for one in taken(found)] == [
        ("t0", "a"),
        ("t1", "attempt-1"),
        ("t2", "t2"),
        ("t3", "a"),
    ]


def test_a_name_that_cannot_be_rewritten_says_why() -> None:
    trials = [trial(0), trial(1), trial(2), trial(3, status="no_trajectory")]
    said = words(unflagged("t0"), unjudged("t1", "refusal"))
    found = choose(trials, said, Choice(named=("task-0", "task-1", "task-2", "task-3", "ghost")))
    assert [(one.name, one.standing) for one in found] == [
        ("task-0", "unflagged"),
        ("task-1", "unjudged"),
        ("task-2", "not judged"),
        ("task-3", "without text"),
        ("ghost", "not among those compared"),
    ]


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([("other", None), ("tool_output_vs_plan", 2), ("other", 2)], ("tool_output_vs_plan", 2)),
        ([("other", None)], ("other", None)),
        ([], (None, None)),
    ],
)
def test_the_surest_span_is_the_first_of_equals(
    spans: list[tuple[str, int | None]], found: tuple[str | None, int | None]
) -> None:
    made = [span(kind, level, number) for number, (kind, level) in enumerate(spans, 1)]  # type: ignore[arg-type]
    assert surest(flagged("t0", *made)) == found


def test_a_range_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="its lower end first"):
        msgspec.convert({"confidence": [4, 2]}, Choice)
