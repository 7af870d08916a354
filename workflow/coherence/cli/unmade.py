"""A file that is not there because the stage that makes it has not run: which one, and what to run first."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coherence.cli.arguments import config_of, whole_run
from coherence.cli.layout import REPEATED_FIGURES, Layout
from coherence.errors import CoherenceError, NoFileError

# By the folder of a file of a dataset, or by the beginning of its name among the shards.
STAGES: Final = {
    "units": "plan",
    **dict.fromkeys(("index", "reports", "trajectories", "tests"), "ingest"),
    **dict.fromkeys(("preprocess", "preprocessed"), "preprocess"),
    "features": "features",
    "judge": "judge",
    "prefix": "prefix",
    **dict.fromkeys(("rewrites", "chosen.jsonl"), "paraphrase"),
    "judgements": "gather judgements",
    "prefixes": "gather prefixes",
}
OF_REPEATED: Final = (*REPEATED_FIGURES, "meeting")


def told(error: CoherenceError, args: argparse.Namespace) -> str:
    """Return what to tell of an error; of a file that a stage makes, the stage and what to run first."""
    if not isinstance(error, NoFileError) or not hasattr(args, "is_of_workflow"):
        return str(error)
    try:
        layout = Layout(config_of(args))
    except CoherenceError:
        return str(error)
    stage = stage_of(layout, error.path)
    if stage is None:
        return str(error)
    return f"{error.path}: not there: `coherence {stage}` makes it; run `{whole_run(args)}` first"


def stage_of(layout: Layout, path: Path) -> str | None:
    """Return the command that makes a file of the results, None for a file that none makes."""
    if path in (whole := dict(_of_the_whole(layout))):
        return whole[path]
    try:
        parts = path.relative_to(layout.results).parts
    except ValueError:
        return None
    folder, name = parts[-2:] if len(parts) > 1 else ("", parts[-1])
    if folder == layout.figures.name:
        return "repeated_figures" if path.stem.split(".")[-1] in OF_REPEATED else "figures"
    stage = STAGES.get(name, STAGES.get(name.split("-")[0] if folder == "shards" else folder))
    return "paraphrase" if stage is not None and "paraphrased" in parts[:-2] else stage


def _of_the_whole(layout: Layout) -> Iterator[tuple[Path, str]]:
    yield from ((path, "evaluate") for path in (layout.evaluation, layout.shown, layout.beside))
    yield from ((path, "outcomes") for path in (layout.outcomes, layout.outcome_sets, layout.outcomes_shown))
    yield from ((path, "incoherence") for path in (layout.incoherence, layout.incoherence_shown))
