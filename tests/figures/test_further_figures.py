"""The figures that repeat a plot in panels: what they say, and that anything can be drawn."""

from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from msgspec.structs import replace

from coherence.cli.figures import DRAWN
from coherence.cli.layout import FIGURES, PUBLISHED
from coherence.cli.report_figures import SHOWN
from coherence.evaluation.evaluate import Evaluation, evaluate, of_dataset
from coherence.evaluation.numbers import read_numbers
from coherence.evaluation.paraphrased import Summary
from coherence.evaluation.published import read_published
from coherence.evaluation.published_table import Beside, beside
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.figures import first_flag, overlap, paraphrase, precision, published, tertiles
from coherence.figures.style import save
from coherence.stats.proportions import clopper_pearson, proportion
from paper_rows import SETTINGS, rows, timelines

HOSTILE = "<i>$x$ 中\u202e" * 20
PAPER = evaluate(rows(), SETTINGS, timelines())
EMPTY = evaluate([], SETTINGS, {})


def hostile() -> Evaluation:
    made = [
        Row(
            str(number),
            HOSTILE,
            "t",
            str(number),
            "failed" if number % 2 else "passed",
            "ok",
            features={HOSTILE: float(number)},
            verdicts={HOSTILE: Verdict("flagged", spans=1) if number % 3 else Verdict("unflagged")},
        )
        for number in range(9)
    ]
    return evaluate(made, EvaluationSettings(stratify_by=HOSTILE, simulated={HOSTILE: HOSTILE}), {})


def texts(figure: Figure) -> str:
    return "\n".join(str(text.get_text()) for text in figure.findobj(Text) if isinstance(text, Text))


def test_every_figure_is_drawn_and_shown_under_one_name() -> None:
    assert tuple(DRAWN) == tuple(SHOWN) == FIGURES


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("found", [PAPER, EMPTY, hostile()], ids=["paper", "empty", "hostile"])
def test_anything_can_be_drawn(name: str, found: Evaluation, tmp_path: Path) -> None:
    assert all(path.stat().st_size for path in save(DRAWN[name](found), tmp_path, "x"))
    _, _, describe = SHOWN[name]
    assert describe(found).endswith(".")
    assert "\n" not in describe(found)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_that_its_data_are_simulated_and_the_same_bytes_come_again(
    name: str, tmp_path: Path
) -> None:
    assert "qwen is simulated: counts." in texts(DRAWN[name](PAPER)).replace("\n", " ")
    first, second = (save(DRAWN[name](PAPER), tmp_path / run, "x") for run in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize(
    ("shown", "parts"),
    [
        (tertiles.tertiles(PAPER.thirds), ("+47", "+40", "-31", "10/10 · 3/5", "n = 44", "3 of 3 thirds")),
        (precision.precision(PAPER.precision), ("detector, n = 44", "lexical, n = 44", "ranked by features")),
        (overlap.overlap(PAPER.overlaps), ("16 flagged of n = 44", "lexical", "Clopper-Pearson")),
        (first_flag.first_flag(PAPER.flag_curves), ("failed, 15 of n = 28 flagged", "log-rank p")),
    ],
    ids=["tertiles", "precision", "overlap", "first-flag"],
)
def test_numbers_and_n_are_in_the_figure(shown: Figure, parts: tuple[str, ...]) -> None:
    said = texts(shown)
    assert [part for part in parts if part not in said] == []


def test_a_dataset_s_figures_show_that_dataset_alone() -> None:
    both = evaluate([*rows(), *rows("other")], SETTINGS, timelines() | timelines("other"))
    assert of_dataset(both, "qwen") == PAPER
    told = replace(both, paraphrased=(summary((8, 8)),))
    assert [len(of_dataset(told, name).paraphrased) for name in ("qwen", "set")] == [0, 1]
    assert "other" not in texts(precision.precision(of_dataset(both, "qwen").precision))


@pytest.fixture
def numbers() -> tuple[Beside, ...]:
    counts = read_published(PUBLISHED / "counts.toml")
    return tuple(beside(read_numbers(PUBLISHED / "numbers.csv"), counts, EMPTY, []))


def test_the_scatter_counts_by_basis(numbers: tuple[Beside, ...], tmp_path: Path) -> None:
    figure = published.published(numbers, {})
    assert "129 of 129 entries match" in texts(figure)
    assert "recomputed from published counts, n = " in texts(figure)
    assert "differs" not in texts(figure)
    assert all(path.stat().st_size for path in save(figure, tmp_path, "x"))


def test_a_number_that_differs_is_an_open_mark(numbers: tuple[Beside, ...]) -> None:
    wrong = [Beside(row.number, "differs", row.basis, row.ours) for row in numbers if row.ours][:1]
    assert "differs" in texts(published.published(wrong, {}))
    assert "0 of 1 entries match" in published.describe(wrong)


def test_no_numbers_can_be_drawn(tmp_path: Path) -> None:
    draw: Callable[..., Figure] = published.published
    assert all(path.stat().st_size for path in save(draw([], {}), tmp_path, "x"))


def summary(kept: tuple[int, int], name: str = "words", simulated: str = "planted") -> Summary:
    return Summary(
        *("set", name, "paraphrase by a model", "paraphrase", "judge", "all"),
        trajectories=8,
        kept=proportion(*kept, clopper_pearson),
        new=proportion(0, 0),
        same_surest_type=proportion(5, 8),
        same_types=proportion(3, 8),
        spans_n=kept[1],
        spans_before=13,
        spans_after=11,
        confidence_n=0,
        confidence_before=None,
        confidence_after=None,
        unjudged={"refusal": 2},
        not_chosen={},
        simulated=simulated,
    )


def test_flags_kept_in_other_words_have_n_spans_and_what_is_unjudged(tmp_path: Path) -> None:
    figure = paraphrase.paraphrase([summary((8, 8)), summary((0, 0), HOSTILE)])
    said = texts(figure).replace("\n", " ")
    for part in ("8/8; 13 → 11; 2", "none flagged before and judged after", "Clopper-Pearson", "planted"):
        assert part in said
    assert all(path.stat().st_size for path in save(figure, tmp_path, "x"))
    assert "8 of 8 kept" in paraphrase.describe([summary((8, 8))])


def test_a_run_without_paraphrases_can_be_drawn(tmp_path: Path) -> None:
    assert all(path.stat().st_size for path in save(paraphrase.paraphrase([]), tmp_path, "x"))


UNPLACED = evaluate(rows(), SETTINGS, {})
UNMEASURED = evaluate([replace(row, features={}) for row in rows()], SETTINGS, timelines())


@pytest.mark.parametrize(
    ("name", "found", "said"),
    [
        ("first-flag", UNPLACED, "No time to the first flag to draw: no flag has a known place"),
        ("lead-time", UNPLACED, "qwen is simulated: counts. No lead time to draw: no flag has a known place"),
        ("tertiles", UNMEASURED, "No gap within thirds to draw: no third has flagged and other trajectories"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_a_figure_that_shows_nothing_says_what_is_missing_and_why(
    name: str, found: Evaluation, said: str
) -> None:
    told = texts(DRAWN[name](found)).replace("\n", " ")
    assert said in told
    assert "table" in told
    assert not SHOWN[name][1](found)
