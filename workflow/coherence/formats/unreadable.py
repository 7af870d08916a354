"""The one trial that stands for a file of many of which none can be read."""

from pathlib import Path

from coherence.formats import Source, Unit
from coherence.formats.identity import safe_id
from coherence.records import Outcome, SourceFile, Trial


def unreadable(
    unit: Unit, source: Source, reason: str, problem: str, sources: tuple[SourceFile, ...] = ()
) -> Trial:
    """Return the trial; `reason` is why its outcome is unknown, `problem` what the reader met."""
    return Trial(
        id=safe_id(Path(unit.key).name, source.apart + unit.key),
        dataset=source.dataset,
        task=unit.key,
        attempt=unit.key,
        root=source.root,
        key=unit.key,
        outcome=Outcome("unknown", reason=reason),
        status="unreadable",
        reason=problem,
        sources=sources,
    )
