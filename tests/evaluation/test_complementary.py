from judge_words import SETTINGS, rows, span, words
from msgspec.structs import replace

from coherence.evaluation.complementary import Complement, complementary, table
from coherence.evaluation.cross_judge import cross_judge
from coherence.evaluation.ensembles import ensembles
from coherence.evaluation.proxy_goal import SecondLook, second_looks
from coherence.evaluation.proxy_goal import table as proxy_table
from coherence.records import Judgement, Lost, QuoteCheck
from coherence.stats.tables import Counts

BESIDE = replace(SETTINGS, complementary={"d": ("s", "u")})
SECOND = replace(SETTINGS, second_looks={"p": "d"})


def by_judges(judged: dict[str, dict[str, Judgement]], outcomes: str) -> dict[str, Complement]:
    return {row.judges: row for row in complementary(rows(outcomes, judged), BESIDE)}


def test_alone_and_in_union() -> None:
    found = by_judges({"d": words("fuuuf"), "s": words("ufuuf"), "u": words("ufufu")}, "FFFPP")
    assert list(found) == ["d", "s", "u", "d + s", "d + u", "d + s + u"]
    caught = {name: (row.caught.count, row.beyond.count, row.alarms.count) for name, row in found.items()}
    assert caught == {
        "d": (1, 0, 1), "s": (1, 1, 1), "u": (1, 1, 1),
        "d + s": (2, 1, 1), "d + u": (2, 1, 2), "d + s + u": (2, 1, 2),
    }  # fmt: skip
    assert {(row.caught.n, row.beyond.n, row.alarms.n) for row in found.values()} == {(3, 2, 2)}
    assert found["d + u"].comparison.counts == Counts(2, 4, 1, 1)


def test_all_rows_are_of_the_trajectories_that_all_judged_and_whose_outcome_is_known() -> None:
    found = by_judges({"d": words("fuuuf"), "s": words("u?uuf"), "u": words("ufuff")}, "FFP-P")
    assert {(row.n, row.left_out) for row in found.values()} == {(3, 2)}


def test_a_judge_that_was_not_run_says_so_and_takes_nothing_from_the_others() -> None:
    found = by_judges({"d": words("fuuuf"), "s": words("?????"), "u": words("ufuuf")}, "FFFPP")
    assert list(found) == ["d", "s", "u", "d + s", "d + u"]
    assert (found["s"].not_run, found["d + s"].n, found["d + u"].n) == ("s: unjudged (api)", 0, 5)
    shown = table(list(found.values())).rows
    assert [row[3] for row in shown] == [
        "5",
        "not run: s: unjudged (api)",
        "5",
        "not run: s: unjudged (api)",
        "5",
    ]


def test_without_the_main_judge_others_stand_alone() -> None:
    found = by_judges({"d": words("???"), "s": words("ufu"), "u": words("uff")}, "FFP")
    assert (found["d"].not_run, found["s"].caught.count, found["s"].caught.n) == ("d: unjudged (api)", 1, 2)
    assert {row.beyond.n for row in found.values()} == {0}, "what it misses is not known"
    assert found["d + s"].not_run == "d: unjudged (api)"


def test_a_dataset_without_them_has_no_row() -> None:
    assert by_judges({"d": words("fu")}, "FP") == {}
    assert by_judges({"s": words("fu")}, "FP") == {}


def look(
    second: str, *, first: str = "fff", outcomes: str = "FPF", lost: tuple[Lost, ...] = ()
) -> SecondLook:
    place = QuoteCheck("exact", 1, "thought", 0, 0, 4)
    yes = replace(span(1, 2), acknowledgment_check=place, action_check=place)
    two = (span(1, 2), replace(span(5, 6), span_id=2))
    judged = {"d": words(first, spans=two), "p": words(second, spans=(yes,), lost=lost)}
    (found,) = second_looks(rows(outcomes, judged), SECOND, {"set": judged})
    return found


def test_spans_and_runs_with_a_yes_are_counted() -> None:
    found = look("fuf")
    assert (found.judge, found.of, found.spans.count, found.spans.n) == ("p", "d", 2, 6)
    assert (found.located.count, found.located.n) == (2, 2)
    assert found.comparison.counts == Counts(2, 2, 0, 1)


def test_what_the_second_judge_did_not_judge_is_left_out_and_counted() -> None:
    found = look("f?u", first="ffu")
    assert (found.spans.n, found.unjudged, found.comparison.counts) == (2, 1, Counts(1, 1, 0, 0))
    assert proxy_table([found]).rows[0][-1] == "1 unjudged"


def test_a_span_without_an_answer_beside_a_yes_is_in_no_share_and_counted() -> None:
    found = look("ffu", lost=(Lost(2, "api"),))
    assert (found.spans.count, found.spans.n, found.lost) == (2, 4, 2)
    assert (found.comparison.counts, found.unjudged) == (Counts(1, 2, 1, 1), 0)
    shown = proxy_table([found])
    assert shown.rows[0][-1] == "2 spans lost"
    assert shown.records[0]["spans_lost"] == 2


def test_a_second_look_is_no_judge_beside_the_others() -> None:
    judged = {"d": words("fuu"), "p": words("fuu"), "x": words("ffu")}
    made = rows("FFP", judged)
    assert [(row.first, row.second) for row in cross_judge(made, SECOND, {"set": judged})] == [("d", "x")]
    assert "p" not in {row.judges for row in ensembles(made, SECOND)}
