"""`coherence labels`: trajectories for a reader as a sheet with pages, and the filled sheet as verdicts."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from coherence.cli.arguments import add_dataset_arguments, config_of, each_dataset, say
from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.loading import Loaded
from coherence.errors import ConfigError, InputError
from coherence.evaluation.label_sample import Drawn, draw
from coherence.files import read_json, read_numbered_lines, write_bytes, write_lines, write_text
from coherence.judges.label_sheet import Sheet, blank_sheet, counts, read_sheet
from coherence.judges.samples import majority
from coherence.records import JudgementState, Transcript
from coherence.report.label_pages import render_label_page

SHEET: Final = "sheet.csv"


def readable(loaded: Loaded) -> list[str]:
    """Return the trajectories of a dataset that can be read and are compared, by id."""
    left_out = loaded.exclusions
    ids = [e.trial.id for e in loaded.entries if e.trial.status == "ok" and e.trial.id not in left_out]
    if not ids:
        raise InputError(f"dataset {loaded.name}: no trajectory has text; there is nothing to read")
    return sorted(ids)


def states_of(loaded: Loaded, judge: str | None, ids: Sequence[str]) -> dict[str, JudgementState]:
    """Return what the judge whose flags part the sample says of each trajectory."""
    known = loaded.config.judges_of(loaded.name)
    if judge is not None and judge not in known:
        raise ConfigError(f"--judge {judge}: the judges of dataset {loaded.name} are {', '.join(known)}")
    if judge is None and len(known) != 1:
        raise ConfigError(f"--judge: whose flags part the sample? One of {', '.join(known)}")
    words = majority(loaded.judgements(judge or known[0]))
    return {name: words[name].state if name in words else "unjudged" for name in ids}


def chosen(args: argparse.Namespace, loaded: Loaded) -> tuple[str, ...]:
    """Return the trajectories that were asked for: those named, a sample, or all."""
    ids = readable(loaded)
    if args.trajectories:
        unknown = sorted(set(args.trajectories) - set(ids))
        if unknown:
            raise InputError(
                f"--trajectories {unknown[0]}: none of the {len(ids)} that can be read; their ids are in "
                f"{loaded.layout.dataset(loaded.name) / 'index.csv'}"
            )
        return tuple(sorted(set(args.trajectories)))
    if args.sample is None:
        return tuple(ids)
    seed = loaded.config.evaluation.seed if args.seed is None else args.seed
    drawn = draw(states_of(loaded, args.judge, ids), args.sample, seed)
    say(f"labels: {described(drawn, seed)}")
    return drawn.trajectories


def described(drawn: Drawn, seed: int) -> str:
    """Return how a sample was drawn, which its reader should not know."""
    parts = {"flagged": drawn.flagged, "unflagged": drawn.unflagged, "unjudged": drawn.unjudged}
    said = ", ".join(f"{n} of {of} {name}" for name, (n, of) in parts.items() if of)
    return (
        f"a sample by seed {seed}: {said}. How many of it are flagged is set by the draw, so that kappa and "
        "recall measured on it hold for the sample and not for the dataset"
    )


def export(args: argparse.Namespace, config: Config) -> int:
    """Write the sheet and a page for each trajectory."""
    (dataset,) = each_dataset(config, args) if args.dataset else [only_dataset(config)]
    folder, loaded = args.folder, Loaded(config, dataset)
    if (folder / SHEET).exists():
        raise InputError(f"{folder / SHEET}: is there already and may be filled; name another folder")
    names = chosen(args, loaded)
    simulated = config.datasets[dataset].simulated
    for name in names:
        transcript = read_json(loaded.layout.transcript(dataset, name), Transcript)
        write_text(folder / "pages" / f"{name}.html", render_label_page(transcript, dataset, simulated))
    rows = [(name, dataset, f"pages/{quote(name, safe='')}.html") for name in names]
    write_bytes(folder / SHEET, blank_sheet(rows))
    say(f"labels: {len(names)} trajectories of {dataset} in {folder / SHEET}, a page for each beside it")
    return 0


def only_dataset(config: Config) -> str:
    """Return the config's one dataset; ConfigError where there are several."""
    if len(config.datasets) != 1:
        raise ConfigError(f"--dataset: name one of {', '.join(config.datasets)}")
    return next(iter(config.datasets))


def sheet_of(args: argparse.Namespace, config: Config) -> Sheet:
    """Return the filled sheet, its quotes looked up in the trajectories."""
    layout, datasets = Layout(config), list(each_dataset(config, args))
    known = {name: {e.trial.id for e in Loaded(config, name).entries} for name in datasets}

    def transcript_of(dataset: str, trajectory: str) -> Transcript | None:
        path = layout.transcript(dataset, trajectory)
        return read_json(path, Transcript) if trajectory in known[dataset] and path.is_file() else None

    return read_sheet(args.sheet, transcript_of, datasets)


def kept_lines(path: Path, reader: str, sheet: Sheet) -> Iterator[dict[str, Any]]:
    """Yield the lines of a label file that the sheet does not replace: of other readers or trajectories."""
    if not path.is_file():
        return
    listed = set(sheet.listed)
    for _, line in read_numbered_lines(path, dict[str, Any]):
        place = (str(line.get("dataset")), str(line.get("trajectory")))
        if str(line.get("reader")) != reader or place not in listed:
            yield line


def import_(args: argparse.Namespace, config: Config) -> int:
    """Write the labels of a filled sheet, beside what the file has of other readers and trajectories."""
    reader = args.reader.strip()
    if not reader:
        raise ConfigError("--reader: give the reader a name; labels of several readers are told apart by it")
    sheet = sheet_of(args, config)
    lines = [*kept_lines(args.output, reader, sheet), *(label.line(reader) for label in sheet.labels)]
    plain = [msgspec.to_builtins(line) for line in lines]
    order = ("reader", "dataset", "trajectory", "file", "trial")
    write_lines(args.output, sorted(plain, key=lambda line: [str(line.get(name, "")) for name in order]))
    for remark in sheet.misplaced:
        say(f"labels: {remark}; the label is kept as it is")
    said = ", ".join(f"{n} {name}" for name, n in counts(sheet).items() if n)
    say(f"labels: {said or 'no row'} by reader {reader}, in {args.output}; blank rows are no labels")
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two actions and their arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    out = actions.add_parser("export", help="write a blank sheet, and a page for each trajectory")
    out.add_argument("folder", type=Path, help="where sheet.csv and pages/ are written")
    what = out.add_mutually_exclusive_group()
    named = "these, with commas between them (default: all that have text)"
    what.add_argument("--trajectories", type=names_in, metavar="ID,ID", help=named)
    what.add_argument("--sample", type=size, metavar="N", help="so many, half flagged by the judge, half not")
    out.add_argument("--judge", help="with --sample: whose flags (default: the dataset's only judge)")
    out.add_argument("--seed", type=int, help="with --sample: default: `evaluation.seed`")
    back = actions.add_parser("import", help="check a filled sheet and write its labels")
    back.add_argument("sheet", type=Path, help="the filled sheet, as CSV")
    back.add_argument("-o", "--output", type=Path, required=True, help="JSON Lines, other readers' kept")
    back.add_argument("--reader", required=True, help="whose labels these are")
    for action in (out, back):
        add_dataset_arguments(action)


def names_in(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def size(text: str) -> int:
    """Return the size of a sample."""
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is no size")
    return number


def run(args: argparse.Namespace) -> int:
    """Export or import."""
    config = config_of(args)
    return export(args, config) if args.action == "export" else import_(args, config)
