from typing import Any

import pytest
from attempt_samples import answered, frame, only_group, tried
from msgspec.structs import replace

from coherence.errors import ConfigError
from coherence.evaluation.decompositions import plain
from coherence.evaluation.error_incoherence import Incoherence, incoherence
from coherence.evaluation.error_incoherence_table import table
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.outcome_kinds import attempts_of
from coherence.evaluation.render import markdown
from coherence.evaluation.repeated import groups

SETTINGS = IncoherenceSettings(
    decompositions=("kohavi_wolpert", "modal_margin", "brier", "kl", "domingos", "seed_modal", "tests")
)
MIXED = answered(("AAABC", "A"), ("BBBAC", "A"), ("AAAAA", "A"), ("BBBBB", "A"))


def rows(given: list[dict[str, Any]], settings: IncoherenceSettings = SETTINGS) -> list[Incoherence]:
    return [row for group in groups(frame(given), settings.simulated) for row in incoherence(group, settings)]


def row(given: list[dict[str, Any]], kind: str = "answer", name: str = "kohavi_wolpert") -> Incoherence:
    (found,) = [each for each in rows(given) if (each.kind, each.decomposition) == (kind, name)]
    return found


def test_the_main_row_rests_on_answers_and_passes_are_marked() -> None:
    found = rows(MIXED)
    assert [(each.kind, each.decomposition) for each in found if each.main] == [("answer", "kohavi_wolpert")]
    assert {each.note for each in found if each.kind == "passed" and each.decomposition != "seed_modal"} == {
        "binary: a function of the pass rates; too few tasks for an interval"
    }
    assert [each.main for each in rows(tried("10", "01"))].count(True) == 1


def test_error_bias_variance_and_incoherence() -> None:
    found = row(MIXED).found
    assert (found.items, found.attempts, found.fewest, found.most) == (4, 20, 5, 5)
    assert (found.error, found.variance) == pytest.approx((2.2 / 4, 0.7 / 4))
    assert found.incoherence == pytest.approx(0.7 / 2.2)
    assert row(MIXED).plug_in == pytest.approx(0.56 / 2.2)
    assert (found.jackknife, found.delta, found.untold) == (None, None, "too few tasks for an interval")


def test_five_tasks_that_were_ever_wrong_have_intervals() -> None:
    found = row([*MIXED, *(each | {"task": f"more {each['task']}"} for each in MIXED)])
    assert found.found.jackknife is not None
    assert found.found.delta is not None
    assert found.note == ""


def test_tasks_that_do_not_differ_are_no_certainty() -> None:
    found = row(answered(*[("AB", "A")] * 9))
    assert (found.found.incoherence, found.found.jackknife, found.note) == (
        1,
        None,
        "no interval: tasks do not differ",
    )


def test_of_passes_incoherence_is_the_pass_rate_of_the_wrong() -> None:
    found = row(tried("1100", "1000"), "passed")
    assert found.plug_in == pytest.approx((0.25 + 0.75 * 0.25) / (0.5 + 0.75))


def test_domingos_has_components_and_no_aggregate() -> None:
    found = row(MIXED, name="domingos")
    assert found.found.bias == pytest.approx(0.5)
    assert (found.found.incoherence, found.found.jackknife, found.plug_in) == (None, None, None)
    assert "does not add up" in found.note


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (answered(("AA", "A"), ("BB", "B")), "never wrong"),
        (answered(("A", "A"), ("B", "A")), ""),
        (answered(("AB", "A"), ("BB", "A")), "too few tasks for an interval"),
    ],
    ids=["all correct", "one attempt a task", "two tasks"],
)
def test_degenerate_groups_say_so(given: list[dict[str, Any]], note: str) -> None:
    found = row(given)
    assert found.note == note
    assert (found.found.incoherence is None) == (note != "too few tasks for an interval")
    assert found.found.too_few == (2 if given[0]["answer"] and len(given) == 2 else 0)


def test_unequal_attempts_are_marked_where_the_estimate_depends_on_them() -> None:
    given = answered(("AB", "A"), ("ABB", "A"))
    assert "unequal attempts" in row(given, name="modal_margin").note
    assert row(given).note == "too few tasks for an interval"


def test_answers_that_disagree_with_pass_or_fail_are_counted() -> None:
    given = answered(("AB", "A"))
    assert row([given[0] | {"passed": False}, given[1] | {"passed": None}]).contrary == 1


def test_what_is_simulated_says_so_everywhere() -> None:
    settings = IncoherenceSettings(simulated={"d": "made up"})
    made = table(rows(MIXED, settings), settings)
    assert made.note == "d is simulated: made up."
    assert made.rows[0][0] == "d (simulated)"
    assert made.records[0]["simulated"] == "made up"


def test_the_table_names_methods_and_everything_left_out() -> None:
    given = [*MIXED, {"task": "t9", "target": "A", "attempt": "1"}, *answered(("", "A"), ("", "A"))]
    made = table(rows(given), SETTINGS)
    for words in ("jackknife-t", "delta-t", "unbiased", "ratio", "95 %"):
        assert words in made.caption or words == "ratio"
    assert made.records[0]["left_out"] == "1 no answer"
    assert set(made.records[0]) == set(made.fields)
    assert len(made.rows[0]) == len(made.columns)
    assert "| d | g | answer | Kohavi-Wolpert | 4 | 5 |" in markdown(made)


def test_contexts_show_what_is_sampling_and_what_they_add() -> None:
    given = [
        {"task": task, "context": context, "attempt": str(n), "answer": answer, "target": "A"}
        for task in ("t", "u")
        for n, (context, answer) in enumerate((("x", "A"), ("x", "A"), ("y", "B"), ("y", "B")))
    ]
    found = row(given)
    assert (found.sampling, found.context) == pytest.approx((0, 0.5))


@pytest.mark.parametrize(
    ("column", "names", "name", "noted"),
    [
        ("context", "xxyy", "modal_margin", "attempts in one context count as independent"),
        ("context", "xxyy", "kohavi_wolpert", ""),
        ("context", "wxyz", "modal_margin", ""),
        ("seed", "xxyy", "kohavi_wolpert", "attempts in one environment (seed) count as independent"),
        ("seed", "wxyz", "kohavi_wolpert", ""),
    ],
)
def test_attempts_that_share_what_no_estimate_regards_are_noted(
    column: str, names: str, name: str, noted: str
) -> None:
    given = [
        {"task": task, column: shared, "attempt": str(n), "answer": answer, "target": "A"}
        for task in ("t0", "t1")
        for n, (shared, answer) in enumerate(zip(names, "AABC", strict=True))
    ]
    note = row(given, name=name).note
    assert noted in note
    assert ("count as independent" in note) == bool(noted)


def test_tasks_of_one_context_are_told_from_tasks_of_too_few_attempts() -> None:
    contexts = {"t0": "xxy", "t1": "xxx", "t2": "x"}
    given = [
        {"task": task, "context": context, "attempt": str(n), "answer": "A", "target": "A"}
        for task, names in contexts.items()
        for n, context in enumerate(names)
    ]
    found = row(given)
    assert (found.found.items, found.found.too_few, found.found.one_context) == (1, 1, 1)
    assert found.left_out_text == "1 too few attempts (tasks), 1 one context only (tasks)"
    (record, *_) = table([found], SETTINGS).records
    assert (record["tasks_with_too_few_attempts"], record["tasks_of_one_context"]) == (1, 1)


def test_order_and_copies_of_rows_change_nothing() -> None:
    forward, back = rows(MIXED), rows(MIXED[::-1])
    for one, other in zip(forward, back, strict=True):
        assert one == other or one.decomposition == "seed_modal"  # whose ties go by order
    twice = rows([*MIXED, *MIXED])
    assert [each.found for each in twice] == [each.found for each in rows(MIXED)]
    assert twice[0].left_out == {"attempt repeated": len(MIXED)}


def test_a_group_without_any_outcome_is_still_a_row() -> None:
    (found,) = rows([{"task": "t", "steps": 3.0}, {"task": "t", "steps": 4.0}])
    assert (found.kind, found.found.items, found.left_out) == ("-", 0, {"no outcome": 2})
    assert table([found], SETTINGS).rows[0][2:5] == ("-", "-", "0")


def test_a_group_without_the_kind_asked_for_has_outcomes_all_the_same() -> None:
    number = {"group": "h", "number": 1.0, "target_number": 0.0}
    given = [*answered(("AB", "A")), *(row | number | {"passed": None} for row in tried("11-"))]
    given.append({"group": "h", "task": "t0", "attempt": "9"})
    found = next(row for row in rows(given, replace(SETTINGS, kinds={"d": "answer"})) if row.group == "h")
    assert (found.found.items, found.left_out) == (0, {"another outcome than answer": 3, "no outcome": 1})


def test_an_unknown_decomposition_shows_nothing_of_it() -> None:
    settings = IncoherenceSettings(decompositions=("nonsense",))
    assert [each.decomposition for each in rows(MIXED, settings)] == ["kohavi_wolpert", "kohavi_wolpert"]
    with pytest.raises(ConfigError, match="no decomposition is called 'nonsense'"):
        plain(attempts_of(only_group(MIXED), "answer"), "nonsense", "unbiased", 1e-12)
