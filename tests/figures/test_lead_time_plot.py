from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from coherence.evaluation.first_flags import Elapsed, FirstFlag
from coherence.evaluation.lead_time import LeadTime, lead_times
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.figures.lead_time import describe, lead_time
from coherence.figures.style import save
from coherence.records import OutcomeStatus

OUTCOMES: tuple[OutcomeStatus, ...] = ("failed", "passed", "failed", "unknown")


def flags(count: int, dataset: str = "set") -> list[FirstFlag]:
    return [
        FirstFlag(dataset, "judge", str(n), OUTCOMES[n % 4], 1, Elapsed(5, 2, (n % 97 + 1) / 97))
        for n in range(count)
    ]


def summaries(made: list[FirstFlag], dataset: str = "set") -> list[LeadTime]:
    rows = [Row("x", dataset, "t", "1", "failed", "ok", verdicts={"judge": Verdict("unflagged")})]
    return list(lead_times(rows, made, EvaluationSettings(simulated={"set": "planted verdicts"})))


def texts(figure: Figure) -> str:
    return "\n".join(str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text))


def test_n_is_shown_by_outcome_and_what_has_no_place() -> None:
    made = [*flags(40), FirstFlag("set", "judge", "lost", "failed", 99)]
    shown = texts(lead_time(summaries(made), made))
    for text in ("failed, n = 20", "passed, n = 10", "unknown, n = 10", "40 of 41 flagged"):
        assert text in shown


def test_the_figure_says_what_is_simulated_and_how_the_interval_is_made() -> None:
    shown = texts(lead_time(summaries(flags(8)), flags(8))).replace("\n", " ")
    assert "set is simulated: planted verdicts." in shown
    assert "set (simulated), judge" in shown
    assert "order statistics" in shown


def test_a_dot_for_each_flag_at_its_share() -> None:
    dots = lead_time(summaries(flags(4)), flags(4)).axes[0]
    drawn = np.concatenate([np.asarray(points.get_offsets())[:, 0] for points in dots.collections])
    assert sorted(drawn) == pytest.approx([100 / 97, 200 / 97, 300 / 97, 400 / 97])


def test_a_judge_that_flags_nothing_is_a_line_of_text() -> None:
    figure = lead_time(summaries([]), [])
    assert "no flagged trajectory" in texts(figure)
    assert figure.axes == []


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_any_number_of_flags_can_be_drawn(tmp_path: Path, count: int) -> None:
    made = flags(count, "<i>$x$ 中" * 20)
    figure = lead_time(summaries(made, "<i>$x$ 中" * 20), made)
    assert all(path.stat().st_size for path in save(figure, tmp_path, "x"))


def test_no_judges_can_be_drawn(tmp_path: Path) -> None:
    assert all(path.stat().st_size for path in save(lead_time([], []), tmp_path, "x"))


def test_in_words() -> None:
    assert "set, judge, failures: median 1 % elapsed, n = 1" in describe(summaries(flags(1)))
