"""What `coherence sample` prints: a row an item, and how to read it."""

from collections.abc import Mapping
from textwrap import fill
from typing import Final

from coherence.cli.sample_config import SampleConfig
from coherence.cli.screen import WIDTH, aligned
from coherence.incoherence.stopping import LEVEL, Certify
from coherence.sampling.rows import SampledItem, used_of

MOST_ROWS: Final = 40
LONGEST_CELL: Final = 24  # characters
COLUMNS: Final = (
    "Item",
    "Difficulty",
    "Drawn",
    "Used",
    "Answered",
    "Error",
    "Modal answer",
    "Agreement",
    "Bound",
    "Actions",
    "Stop",
)


def cells(item: SampledItem) -> tuple[str, ...]:
    """Return an item's row."""
    modal = " = ".join(item.tied) or item.modal_answer or "none"
    shown = (
        item.item,
        "" if item.difficulty is None else str(item.difficulty),
        str(item.drawn),
        str(item.used),
        str(item.answered),
        _share(item.error),
        modal,
        _share(item.agreement),
        _share(item.bound),
        "" if item.actions is None else f"{item.actions:g}",
        item.stop,
    )
    return tuple(_cut(cell) for cell in shown)


def caption(config: SampleConfig, items: list[SampledItem]) -> str:
    """Return how to read the table."""
    used = used_of(config.samples, config.stopping)
    parts = [
        f"Shares of the first {used} samples of an item, without intervals. Error: share that did not pass, "
        "of those whose outcome is known; a sample without one is counted in no share and is no failure. "
        "Agreement: share of the modal answer, of those that have an answer; several modal answers are "
        "joined by =. Actions: median calls, or steps where calls are not known."
    ]
    if any(item.bound is not None for item in items):
        parts.append(bound_note(config))
    if config.stopping is not None:
        parts.append(
            "Sampling stopped early where the rule allowed it, which is for triage: outcomes.csv holds the "
            f"first {used} of every item alone; those beyond are marked in samples.jsonl and are no basis "
            "for estimates."
        )
    return fill(" ".join(parts), WIDTH)


def bound_note(config: SampleConfig) -> str:
    """Return what the bound is."""
    rule = config.stopping
    level = rule.level if isinstance(rule, Certify) else LEVEL
    peek = isinstance(rule, Certify) and rule.any_peek
    formula = (
        f"1 - ({level:g}/(n + 1))^(1/n), valid at any look" if peek else f"1 - {level:g}^(1/n), n set before"
    )
    return (
        f"Bound: upper {1 - level:.4g} bound on the share of other answers where all n drawn samples agree "
        f"({formula})."
    )


def text_of(config: SampleConfig, items: list[SampledItem], groups: Mapping[str, int]) -> str:
    """Return the table of the items, its caption, where the files are and what groups are in them."""
    rows = [cells(item) for item in items[:MOST_ROWS]]
    filled = [n for n in range(len(COLUMNS)) if any(row[n] for row in rows)]
    lines = [aligned([[row[n] for n in filled] for row in (COLUMNS, *rows)])]
    if len(items) > len(rows):
        lines.append(f"... and {len(items) - len(rows)} more items in {config.group_folder / 'items.jsonl'}")
    head = f"{config.name}: {config.source.group}, {len(items)} items"
    held = ", ".join(f"{name} ({rows:,} rows)" for name, rows in groups.items())
    made = f"Files: {config.group_folder}; {config.folder / 'outcomes.csv'} holds {held}"
    return "\n\n".join([head, "\n".join(lines), caption(config, items), made])


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
