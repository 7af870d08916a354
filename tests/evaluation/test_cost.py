"""The cost table: the ledger summed up, nothing unknown passed off as zero."""

from typing import Any

from coherence.evaluation.cost import Cost, cost_table, count_costs
from coherence.llm.ledger import Charge


def charge(label: str = "d/j", status: str = "ok", dollars: float | None = 0.5, **fields: Any) -> Charge:
    return Charge("t", label, "m", 0, "k", "a", status, dollars=dollars, **fields)


def test_calls_are_summed_by_dataset_judge_and_model() -> None:
    charges = [
        charge(input=10, output=2, cache_read=5, cache_write=7),
        charge(input=1, output=1, cache_read=1, cache_write=1, batch=True, dollars=0.25),
        charge(status="HTTP 529 overloaded_error: busy", input=0, dollars=0.0),
        charge(status="abandoned", dollars=None, reserved=3.0),
        charge("d/other"),
    ]
    first, second = count_costs(charges)

    assert first == Cost("d", "j", "m", 4, 2, 2, 1, 11, 6, 8, 3, 0.75, 1)
    assert (second.judge, second.calls, second.dollars) == ("other", 1, 0.5)


def test_judges_that_were_never_asked_have_a_row() -> None:
    found = count_costs([charge("x/y")], [("d", "j", "m")])

    assert [(cost.dataset, cost.calls) for cost in found] == [("d", 0), ("x", 1)]


def test_the_table_says_what_is_simulated_and_keeps_every_digit() -> None:
    table = cost_table(count_costs([charge(dollars=0.0123456)]), {"d": "made up"})

    assert table.name == "cost"
    assert table.rows[0][0] == "d (simulated)" and "made up" in table.note
    assert table.records[0]["dollars"] == 0.0123456
    assert table.rows[0][table.columns.index("Dollars")] == "0.01"
