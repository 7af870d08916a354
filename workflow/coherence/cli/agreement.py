"""`coherence agreement`: how far a judge's verdicts agree with reference labels of the same trajectories."""

import argparse
from pathlib import Path

from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.errors import ConfigError, InputError
from coherence.evaluation import agreement
from coherence.evaluation.agreement import Agreement, Part, by_trajectory, compare, prefix_labels, read_labels
from coherence.evaluation.render import markdown, write_table
from coherence.judges.recorded import names_of
from coherence.judges.samples import majority
from coherence.records import Judgement


def reference_of(path: Path, reader: str | None) -> tuple[str, dict[str, Judgement], list[str]]:
    """Return one reader's name, labels, and the trajectories of those on prefixes, once for each.

    Raises InputError where it is not clear whose are wanted.
    """
    labels = list(read_labels(path))
    readers = sorted({label.reader for label in labels})
    if reader is None and len(readers) > 1:
        raise InputError(
            f"{path}: has labels of several readers; choose one of {', '.join(readers)}: --reader"
        )
    chosen = reader if reader is not None else (readers[0] if readers else "")
    kept = [label.judgement for label in labels if label.reader == chosen]
    if not kept:
        raise InputError(f"{path}: no labels of reader {chosen!r}; there are: {', '.join(readers) or 'none'}")
    on_prefixes = [trajectory for trajectory, named in prefix_labels(path) if named == chosen]
    return f"reader {chosen}", by_trajectory(kept), on_prefixes


def candidate_of(config: Config, datasets: list[str], judge: str, names: set[str]) -> dict[str, Judgement]:
    """Return the judge's judgements under the labels' names for their trajectories.

    Raises InputError for a name that fits several trajectories, be it of different datasets.
    """
    found: dict[str, list[tuple[str, Judgement | None]]] = {name: [] for name in names}
    for dataset in datasets:
        if judge in config.judges_of(dataset):
            loaded = Loaded(config, dataset)
            words = majority(loaded.judgements(judge))
            fits: dict[str, set[str]] = {}
            for (_, name), ids in names_of({e.trial.id: e.trial for e in loaded.entries}).items():
                fits.setdefault(name, set()).update(ids)
            for name in names & fits.keys():
                found[name] += [(f"{dataset}/{trial}", words.get(trial)) for trial in sorted(fits[name])]
    for name, fitting in found.items():
        if len(fitting) > 1:
            places = ", ".join(place for place, _ in fitting[:3])
            raise InputError(f"the label {name} fits {len(fitting)} trajectories: {places}; use --dataset")
    return {name: word for name, fitting in found.items() for _, word in fitting if word is not None}


def compared(config: Config, args: argparse.Namespace) -> list[Agreement]:
    """Return the agreement on all labelled trajectories, or on both halves."""
    if args.judge not in config.judges:
        raise ConfigError(f"--judge {args.judge}: not in the config; known: {', '.join(config.judges)}")
    name, reference, on_prefixes = reference_of(args.labels, args.reader)
    if on_prefixes:
        say(
            f"agreement: left out as they are on prefixes (`after_step`) and not on whole trajectories: "
            f"{len(on_prefixes)} of the labels of {name}"
        )
    datasets = list(each_dataset(config, args))
    candidate = candidate_of(config, datasets, args.judge, set(reference))
    if not candidate:
        raise InputError(
            f"{args.labels}: none of its {len(reference)} labels is on a trajectory {args.judge} judged"
        )
    names = (args.judge, name)
    parts: tuple[Part | None, ...] = ("development", "test") if args.halves else (None,)
    return [compare(candidate, reference, names, part, on_prefixes) for part in parts]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument("--judge", required=True, help="a judge of the config that has run")
    parser.add_argument(
        "--labels", type=Path, required=True, help="JSON Lines, as the `recorded` judge reads"
    )
    parser.add_argument("--reader", help="whose labels, where the file has those of several readers")
    parser.add_argument(
        "--halves", action="store_true", help="apart for the development and the test half, split by hash"
    )


def run(args: argparse.Namespace) -> int:
    """Print the agreement and write it beside the other tables."""
    config = config_of(args)
    table = agreement.table(compared(config, args))
    paths = write_table(table, Layout(config).tables)
    print(markdown(table))  # noqa: T201 - the command's answer
    say(f"agreement: written to {paths[0]}")
    return 0
