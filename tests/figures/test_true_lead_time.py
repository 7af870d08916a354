from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from msgspec.structs import replace

from coherence.evaluation.watched import Watched
from coherence.figures.style import save
from coherence.figures.true_lead_time import describe, true_lead_time

RUN = Watched("set", "judge", "a", "failed", 10, 4, 0, "flagged", 0, 6, False, 3, 4)
RUNS = (
    RUN,
    replace(RUN, trajectory="b", flagged_after=None),
    replace(RUN, trajectory="c", outcome="passed", whole="unflagged", place=None, seen_after=None),
    replace(RUN, trajectory="d", flagged_after=None, unjudged=2),
)
HOSTILE = "<i>$x$ 中\u202e" * 20


def texts(figure: Figure) -> str:
    return "\n".join(str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text))


def test_both_curves_are_over_the_same_runs() -> None:
    said = texts(true_lead_time(RUNS))
    assert "on the way, 1 of n = 2" in said
    assert "in hindsight, 2 of n = 2" in said
    assert "on the way, 1 of n = 1" in said
    assert "1 runs left out" in said
    assert "Clopper-Pearson" in said


def test_a_flag_stands_where_it_was_known() -> None:
    (axes, *_) = true_lead_time((RUN,)).axes
    places = [np.asarray(line.get_xdata()).tolist() for line in axes.lines]
    on_the_way, in_hindsight = (xs for xs in places if len(xs) == 3)
    assert on_the_way == [0.0, 60.0, 100.0]
    assert in_hindsight == [0.0, 30.0, 100.0]


@pytest.mark.parametrize(
    "runs",
    [RUNS, (), (replace(RUN, dataset=HOSTILE, judge=HOSTILE, simulated=HOSTILE),)],
    ids=["some", "none", "hostile"],
)
def test_any_runs_can_be_drawn_and_put_in_words(runs: tuple[Watched, ...], tmp_path: Path) -> None:
    assert all(path.stat().st_size for path in save(true_lead_time(runs), tmp_path, "x"))
    assert describe(runs).endswith(".")
    assert "\n" not in describe(runs)


def test_the_same_runs_make_the_same_bytes(tmp_path: Path) -> None:
    first, again = (save(true_lead_time(RUNS), tmp_path / name, "x") for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
