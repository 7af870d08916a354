"""Repeated judgements of one judge: what agrees, what is left out, what a single call would have said."""

import pytest

from coherence.evaluation.repeats import FIELDS, Repeats, repeats, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row
from coherence.records import Judgement, JudgementState, OutcomeStatus
from coherence.stats.intervals import Bootstrap

LETTERS: dict[str, JudgementState] = {"f": "flagged", "u": "unflagged", "?": "unjudged"}
SETTINGS = EvaluationSettings(bootstrap=Bootstrap(200, 1), simulated={"set": "made up"})


def row(name: str, outcome: OutcomeStatus, excluded: str | None = None) -> Row:
    return Row(name, "set", "task", "1", outcome, "ok", excluded=excluded)


def words(**samples: str) -> list[Judgement]:
    return [
        Judgement(name, "j", "llm", LETTERS[letter], substrate="thoughts", sample=n)
        for name, letters in samples.items()
        for n, letter in enumerate(letters)
    ]


def found(said: list[Judgement], *rows: Row) -> Repeats:
    result = repeats("j", said, rows or (row("a", "failed"),), SETTINGS)
    assert result is not None
    return result


def test_a_judge_asked_once_has_no_row() -> None:
    assert repeats("j", words(a="f", b="u"), [row("a", "failed")], SETTINGS) is None
    assert table([], SETTINGS).rows == ()


def test_agreement_is_that_of_the_judged_samples() -> None:
    result = found(words(a="fff", b="ffu", c="u?u", d="u??", e="???"))

    assert (result.samples, result.n, result.unjudged) == (3, 3, 2)
    assert (result.unanimous.count, result.unanimous.n) == (2, 3)
    assert result.flip_rate.value == pytest.approx((0 + 2 / 3 + 0) / 3)
    assert result.ac1.interval is not None and result.ac1.interval.resamples == 200


def test_who_was_never_asked_does_not_agree() -> None:
    silent = [Judgement("s", "j", "llm", "unflagged", substrate="none", sample=n) for n in range(3)]
    result = found([*words(a="ffu"), *silent])

    assert (result.n, result.without_thoughts, result.unanimous.count) == (1, 1, 0)


def test_the_single_call_stands_beside_the_majority() -> None:
    rows = [
        row("a", "failed"),
        row("b", "passed"),
        row("c", "passed"),
        row("d", "unknown"),
        row("e", "failed", "x"),
    ]
    result = found(words(a="uff", b="fuu", c="uuu", d="fff", e="fff"), *rows)

    assert (result.majority.counts.risky_fail, result.majority.counts.risky_n) == (1, 1)
    assert (result.single.counts.risky_fail, result.single.counts.risky_n) == (0, 1)
    assert (result.majority.gap, result.single.gap) == (100, -50)


def test_the_table_says_what_is_left_out_and_what_is_not_real() -> None:
    made = table([found(words(a="ff", b="f?"), row("a", "failed"), row("b", "passed"))], SETTINGS)
    shown = dict(zip(made.columns, made.rows[0], strict=True))

    assert (shown["Dataset"], shown["Samples"], shown["n"]) == ("set (simulated)", "2", "1")
    assert shown["Left out"] == "1 with fewer than two judged samples"
    assert (shown["Flip rate"], shown["Alpha"]) == ("0.00", "-")
    assert (
        set(made.records[0]) == set(FIELDS) and made.records[0]["alpha_reason"] == "all ratings say the same"
    )


def test_nobody_judged_twice_is_no_agreement() -> None:
    result = found(words(a="f?", b="?u"))

    assert (result.n, result.flip_rate.value, result.ac1.value, result.alpha.value) == (0, None, None, None)
