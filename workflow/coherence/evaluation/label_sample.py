"""Which trajectories are given to a reader: half flagged, half not, drawn by a seed."""

from collections.abc import Mapping, Sequence

from coherence.files import digest
from coherence.records import JudgementState, Record


class Drawn(Record, frozen=True):
    """A sample in an order that tells nothing of its strata, and of how many each part of it was drawn."""

    trajectories: tuple[str, ...]
    flagged: tuple[int, int]
    unflagged: tuple[int, int]
    unjudged: tuple[int, int]


def draw(states: Mapping[str, JudgementState], size: int, seed: int) -> Drawn:
    """Return a sample of trajectories, half from those a judge flags and half from those it does not.

    Where one side has too few the other fills up, and last come those the judge left unjudged. The draw
    rests on the ids and the seed alone, whatever their order.
    """
    order = sorted(states, key=lambda name: digest(str(seed), name))
    strata = {
        state: [name for name in order if states[name] == state]
        for state in ("flagged", "unflagged", "unjudged")
    }
    half = max(size - size // 2, size - len(strata["unflagged"]))
    flagged = strata["flagged"][:half]
    unflagged = strata["unflagged"][: size - len(flagged)]
    unjudged = strata["unjudged"][: size - len(flagged) - len(unflagged)]
    return Drawn(
        trajectories=tuple(sorted([*flagged, *unflagged, *unjudged])),
        flagged=_of(flagged, strata["flagged"]),
        unflagged=_of(unflagged, strata["unflagged"]),
        unjudged=_of(unjudged, strata["unjudged"]),
    )


def _of(chosen: Sequence[str], all_: Sequence[str]) -> tuple[int, int]:
    return len(chosen), len(all_)
