"""What the replies cost: the ledger summed up by dataset, judge and model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from coherence.evaluation.readings import marked, simulation_note
from coherence.evaluation.render import Table
from coherence.llm.ledger import OK, Charge
from coherence.records import Record

COLUMNS: Final = {
    "Dataset": "dataset",
    "Judge": "judge",
    "Model": "model",
    "Calls": "calls",
    "answered": "answered",
    "failed": "failed",
    "in batches": "batched",
    "Tokens sent": "input",
    "read from cache": "cache_read",
    "written to cache": "cache_write",
    "received": "output",
    "Dollars": "dollars",
    "Calls of unknown cost": "unknown",
}
CAPTION: Final = (
    "Every call of the ledger (results/ledger.csv), failed ones too, over all runs into this results folder. "
    "Stored replies used again cost nothing and are not counted. Tokens sent leave out what was read "
    "from the prompt cache or written to it. Dollars are list prices; the cost is unknown where no price is "
    "listed or a call was cut off, and is not in the sum."
)


class Cost(Record, frozen=True):
    """What one judge's calls of one model on one dataset came to; `dollars` is without `unknown` calls."""

    dataset: str
    judge: str
    model: str
    calls: int = 0
    answered: int = 0
    failed: int = 0
    batched: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    dollars: float = 0.0
    unknown: int = 0


def count_costs(charges: Iterable[Charge], asked: Iterable[tuple[str, str, str]] = ()) -> list[Cost]:
    """Return the sums by (dataset, judge, model); those in `asked` come first, called or not."""
    groups: dict[tuple[str, str, str], list[Charge]] = {group: [] for group in asked}
    for charge in charges:
        dataset, _, judge = charge.label.partition("/")
        groups.setdefault((dataset, judge, charge.model), []).append(charge)
    return [_cost(group, rows) for group, rows in groups.items()]


def _cost(group: tuple[str, str, str], rows: Sequence[Charge]) -> Cost:
    answered = sum(row.status == OK for row in rows)
    return Cost(
        *group,
        calls=len(rows),
        answered=answered,
        failed=len(rows) - answered,
        batched=sum(row.batch for row in rows),
        input=sum(row.input or 0 for row in rows),
        cache_read=sum(row.cache_read or 0 for row in rows),
        cache_write=sum(row.cache_write or 0 for row in rows),
        output=sum(row.output or 0 for row in rows),
        dollars=sum(row.dollars or 0.0 for row in rows),
        unknown=sum(row.dollars is None for row in rows),
    )


def cost_table(costs: Sequence[Cost], simulated: Mapping[str, str]) -> Table:
    """Return `cost`."""
    plain = [msgspec.structs.asdict(cost) for cost in costs]
    datasets = tuple(dict.fromkeys(cost.dataset for cost in costs))
    return Table(
        name="cost",
        title="What the judging cost",
        caption=CAPTION,
        columns=tuple(COLUMNS),
        rows=tuple(_shown(row, simulated) for row in plain),
        fields=(*COLUMNS.values(), "simulated"),
        records=tuple({**row, "simulated": simulated.get(row["dataset"], "")} for row in plain),
        note=simulation_note((dataset, simulated.get(dataset, "")) for dataset in datasets),
        datasets=datasets,
    )


def _shown(row: Mapping[str, str | int | float], simulated: Mapping[str, str]) -> tuple[str, ...]:
    dataset = str(row["dataset"])
    cells = {**row, "dataset": marked(dataset, simulated.get(dataset, ""))}
    return tuple(_cell(cells[field]) for field in COLUMNS.values())


def _cell(value: str | int | float) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else value
