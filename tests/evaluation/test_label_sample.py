import pytest

from coherence.evaluation.label_sample import draw
from coherence.records import JudgementState


def states(flagged: int, unflagged: int, unjudged: int = 0) -> dict[str, JudgementState]:
    return {
        **{f"f{number:02}": "flagged" for number in range(flagged)},
        **{f"u{number:02}": "unflagged" for number in range(unflagged)},
        **{f"x{number:02}": "unjudged" for number in range(unjudged)},
    }


@pytest.mark.parametrize(
    ("there", "size", "expected"),
    [
        ((10, 30, 0), 8, (4, 4, 0)),
        ((10, 30, 0), 9, (5, 4, 0)),
        ((2, 30, 5), 8, (2, 6, 0)),
        ((30, 1, 5), 8, (7, 1, 0)),
        ((1, 1, 5), 4, (1, 1, 2)),
        ((1, 1, 1), 10, (1, 1, 1)),
        ((0, 0, 0), 3, (0, 0, 0)),
    ],
    ids=str,
)
def test_half_is_flagged_where_there_are_enough(
    there: tuple[int, int, int], size: int, expected: tuple[int, int, int]
) -> None:
    drawn = draw(states(*there), size, seed=1)
    assert (drawn.flagged, drawn.unflagged, drawn.unjudged) == tuple(zip(expected, there, strict=True))
    assert len(set(drawn.trajectories)) == sum(expected)


def test_the_draw_rests_on_seed_and_ids_alone() -> None:
    there = states(20, 20)
    backwards = dict(reversed(there.items()))
    assert draw(there, 6, 1) == draw(backwards, 6, 1)
    assert draw(there, 6, 1).trajectories != draw(there, 6, 2).trajectories


def test_the_order_tells_nothing_of_the_strata() -> None:
    there: dict[str, JudgementState] = {f"{n:02}": "flagged" if n % 2 else "unflagged" for n in range(40)}
    names = draw(there, 10, 1).trajectories
    assert list(names) == sorted(names)
    assert len({there[name] for name in names[:5]}) == 2
