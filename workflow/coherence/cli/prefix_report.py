"""What the report shows of runs judged on the way."""

from collections.abc import Mapping

from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.evaluation.evaluate import Evaluation, of_dataset
from coherence.figures.true_lead_time import describe
from coherence.files import read_bytes
from coherence.report.blocks import Block, Figure, Section, Table

TABLES = ("prefix", "monitor")
TITLE = "How early is it flagged without hindsight?"


def prefix_section(
    config: Config, evaluation: Evaluation, tables: Mapping[str, Table]
) -> tuple[Section, ...]:
    """Return the section with both tables and a figure a dataset, none where no prefix was judged."""
    if TABLES[0] not in tables:
        return ()
    layout = Layout(config)
    blocks: list[Block] = [tables["prefix"]]
    for name in config.datasets:
        runs = of_dataset(evaluation, name).watched
        if runs:
            svg = read_bytes(layout.figures / f"{name}.prefix.svg")
            blocks.append(Figure(f"True lead time, {name}", "", svg, describe(runs), datasets=(name,)))
    return (Section(TITLE, (*blocks, tables["monitor"])),)
