"""The figures of the report, with what they show in words."""

from collections.abc import Callable
from typing import Final

from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.evaluation.evaluate import Evaluation, of_dataset
from coherence.figures import (
    ablations,
    first_flag,
    forest,
    lead_time,
    overlap,
    paraphrase,
    precision,
    tertiles,
)
from coherence.files import read_bytes
from coherence.report.blocks import Figure

SHOWN: Final[dict[str, tuple[str, Callable[[Evaluation], bool], Callable[[Evaluation], str]]]] = {
    "gaps": ("Gaps in failure rate", lambda _: True, lambda found: forest.describe(found.failure_rates)),
    "tertiles": (
        "Gaps within thirds",
        lambda found: bool(tertiles.drawn(found.thirds)),
        lambda found: tertiles.describe(found.thirds),
    ),
    "precision": (
        "Precision over all k",
        lambda found: bool(precision.drawn(found.precision)),
        lambda found: precision.describe(found.precision),
    ),
    "overlap": (
        "Flags beside features",
        lambda found: bool(found.overlaps),
        lambda found: overlap.describe(found.overlaps),
    ),
    "lead-time": (
        "Lead time of the first flag",
        lambda found: any(row.summary.n for row in found.lead_times),
        lambda found: lead_time.describe(found.lead_times),
    ),
    "first-flag": (
        "Time to the first flag",
        lambda found: bool(first_flag.drawn(found.flag_curves)),
        lambda found: first_flag.describe(found.flag_curves),
    ),
}


def figure_blocks(config: Config, layout: Layout, evaluation: Evaluation) -> dict[str, list[Figure]]:
    """Return the figures of every dataset by kind, without those that show nothing: the tables say so."""
    blocks: dict[str, list[Figure]] = {kind: [] for kind in (*SHOWN, "ablations", "paraphrase")}
    if evaluation.ablations:
        svg, alt = read_bytes(layout.figures / "ablations.svg"), ablations.describe(evaluation.ablations)
        shown = tuple(dict.fromkeys(row.dataset for row in evaluation.ablations))
        blocks["ablations"].append(Figure("Ablations of the judges", "", svg, alt, datasets=shown))
    if evaluation.paraphrased:
        svg = read_bytes(layout.figures / "paraphrase.svg")
        alt = paraphrase.describe(evaluation.paraphrased)
        shown = tuple(dict.fromkeys(row.dataset for row in evaluation.paraphrased))
        blocks["paraphrase"].append(Figure("Flags kept in other words", "", svg, alt, datasets=shown))
    for name in config.datasets:
        own = of_dataset(evaluation, name)
        for kind, (title, shows, describe) in SHOWN.items():
            if shows(own):
                svg = read_bytes(layout.figures / f"{name}.{kind}.svg")
                blocks[kind].append(Figure(f"{title}, {name}", "", svg, describe(own), datasets=(name,)))
    return blocks
