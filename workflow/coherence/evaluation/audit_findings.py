"""One point of the audit: what the paper says, what its own counts give, and how the two stand."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from coherence.evaluation.published import Published
from coherence.evaluation.render import Table, records, shown
from coherence.records import Record
from coherence.stats.rounding import half_up

Verdict = Literal[
    "contradicted",
    "not supported",
    "needs a word",
    "within chance",
    "not specified",
    "contradicts itself",
    "not reported",
]
VERDICTS: Final[dict[Verdict, str]] = {
    "contradicted": "the counts rule the statement out",
    "not supported": "the counts allow it and do not show it",
    "needs a word": "right under a rule that the paper does not state",
    "within chance": "unlike what endless resampling gives, and no less likely for that",
    "not specified": "a reader cannot repeat it from the text alone",
    "contradicts itself": "two places of the text differ",
    "not reported": "follows from the counts and bears on the claim",
}


class Finding(Record, frozen=True):
    """A point with its place in the paper; `figures` are the numbers in the finding, in full."""

    id: str
    place: str
    claim: str
    finding: str
    verdict: Verdict
    figures: dict[str, float]


Check = Callable[[Published], Finding]


def points(value: float | None, decimals: int = 1) -> str:
    """Return percentage points, "unknown" where there are none."""
    return "unknown" if value is None else str(half_up(value, decimals))


def p_text(value: float | None) -> str:
    """Return a p with two digits that say something."""
    if value is None:
        return "unknown"
    decimals = 2 if value >= 0.1 else 3 if value >= 0.01 else 4
    return str(half_up(value, decimals))


def known(**figures: float | None) -> dict[str, float]:
    """Return the figures that are known."""
    return {name: float(value) for name, value in figures.items() if value is not None}


def audit_table(
    texts: tuple[str, str, str],
    content: tuple[Sequence[Any], dict[str, Callable[[Any], str]], dict[str, str]],
) -> Table:
    """Return a table of (name, title, caption) with (rows, columns to read, fields in full)."""
    name, title, caption = texts
    rows, columns, fields = content
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=tuple(columns),
        rows=shown(rows, columns),
        fields=tuple(fields),
        records=records(rows, fields),
    )
