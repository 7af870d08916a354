"""`coherence inspect FOLDER`: what a folder of runs holds, and the config entry to paste."""

import argparse
from pathlib import Path
from typing import Final

import yaml

from coherence import formats
from coherence.cli import inspect_tables as tables
from coherence.cli.arguments import printable
from coherence.cli.inspected import Tally, attempts, body, listed, power, repeated, slug, tally
from coherence.errors import InputError
from coherence.formats import Unit
from coherence.formats.tau_bench import is_results
from coherence.llm.prices import Estimate, estimate

SHARD_SIZE: Final = 250  # trajectories a shard, as measured to keep jobs short and few
PROMPT_CHARS: Final = 15_000  # a judge's own instructions, about the size of the shipped detector prompt
REPLY_TOKENS: Final = 900  # a reply with one or two spans


def units_in(root: Path, name: str) -> list[Unit]:
    """Return what a format finds at a path; none where the path is nothing it reads."""
    try:
        return list(formats.load(name).discover(root))
    except InputError:
        return []


def guess_format(root: Path) -> tuple[str, str]:
    """Return the format of the runs at a path, and what other formats find there ("" if nothing).

    Trial folders with results are Harbor's; ATIF files alone may lie in folders of the same shape. InputError
    if there are no runs.
    """
    if not root.exists():
        raise InputError(f"{root}: no such file or folder")
    if root.is_file():
        if tables.is_table(root):
            return "table", ""
        if root.name.endswith(".traj.json"):
            return "mini-swe-agent", ""
        return "tau-bench" if is_results(root) else "atif", ""
    found = {name: units_in(root, name) for name in ("tau-bench", "mini-swe-agent", "harbor", "atif")}
    found["tau-bench"] = [unit for unit in found["tau-bench"] if is_results(root / unit.key)]
    lists = {unit.key for unit in found["tau-bench"]}
    found["atif"] = [unit for unit in found["atif"] if unit.key not in lists]
    with_results = [u for u in found["harbor"] if any(name.endswith("result.json") for name in u.files)]
    order = ("harbor", "tau-bench", "mini-swe-agent", "atif") if with_results else tuple(found)
    ranked = [name for name in order if found.get(name)]
    if not with_results and "atif" in ranked and "harbor" in ranked:
        ranked.remove("harbor")
    if not ranked:
        raise InputError(f"{root}: holds no runs in any known format ({', '.join(formats.FORMATS)})")
    others = [f"{name} {len(found[name]):,}" for name in ranked[1:] if not with_results or name != "atif"]
    return ranked[0], ", ".join(others)


def cost(found: Estimate | None) -> str:
    """Return the estimated cost of one judge as a sentence."""
    if found is None:
        return "unknown: no price is listed for this model"
    return (
        f"about ${found.dollars:,.2f} (${found.low:,.2f} to ${found.high:,.2f}) for {found.requests:,} "
        f"requests to {found.model}; estimated from characters, list prices of {found.prices_of}, "
        f"batches cost half"
    )


def entry(root: Path, form: str, found: Tally) -> str:
    """Return a config that reads the runs, judged offline."""
    dataset: dict[str, object] = {"paths": str(root), "format": form}
    if len(found.backbones) == 1:
        dataset["backbone"] = next(iter(found.backbones))
    dataset["shards"] = max(1, -(-found.trials // SHARD_SIZE))
    name = slug(root)
    made = {"name": name, "datasets": {name: dataset}, "judges": {"rules": {"kind": "rules"}}}
    return yaml.safe_dump(made, sort_keys=False, allow_unicode=True)


def describe(root: Path, name: str, others: str, model: str) -> str:
    """Return the whole answer; InputError where nothing in a folder without outcomes can be read."""
    found = tally(root, name)
    if name == "atif" and not found.judged:
        raise InputError(f"{root}: holds no runs: {found.trials:,} JSON files, none of them ATIF")
    characters = found.characters + PROMPT_CHARS * found.judged
    share = found.without_thoughts / found.judged if found.judged else None
    empty = (
        "no trajectory" if share is None else f"{found.without_thoughts:,} of {found.judged:,} ({share:.0%})"
    )
    lines = {
        "format": name,
        "other formats": others or "none found",
        "trials": f"{found.trials:,} ({listed(found.statuses)})",
        "why missing": listed(found.reasons),
        "outcomes": listed(found.outcomes),
        "single tests": f"{found.tested:,} of {found.trials:,} trials" if found.tested else "none",
        "exceptions": listed(found.exceptions),
        "attempts": attempts(found.tasks),
        "repeated outcomes": repeated(found),
        "backbones": listed(found.backbones),
        "scaffolds": listed(found.scaffolds),
        "thoughts by source": listed(found.thoughts),
        "without thoughts": empty,
        "ingest deviations": listed(found.codes),
        "cost of one judge": cost(estimate(model, found.judged, characters, REPLY_TOKENS)),
        "power": power(found.judged_outcomes),
    }
    return f"{body(lines)}\n\n{tables.PASTE}\n\n{entry(root, name, found)}"


def answer(args: argparse.Namespace) -> str:
    """Return all there is to say; tables are looked for where there are no runs."""
    try:
        name, others = (args.format, "") if args.format else guess_format(args.folder)
        said = None if name in tables.FORMATS else describe(args.folder, name, others, args.model)
    except InputError:
        if args.format or not args.folder.is_dir() or not tables.files(args.folder):
            raise
        said = None
    if said is None:
        return tables.describe(args.folder, args.format, tables.mapping(args.columns))
    if args.columns:
        raise InputError(f"--columns: {args.folder} holds runs, not tables")
    return said


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "folder", type=Path, help="a folder of runs, one trajectory file, or a table (or a folder of them)"
    )
    parser.add_argument(
        "--format", choices=sorted({*formats.FORMATS, *tables.FORMATS}), help="default: found by looking"
    )
    parser.add_argument("--model", default="claude-sonnet-4-6", help="the model whose price is estimated")
    parser.add_argument(
        "--columns",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD=COLUMN",
        help="a table's own names of columns; may be given again",
    )


def run(args: argparse.Namespace) -> int:
    """Print what the folder holds."""
    print(printable(answer(args)))  # noqa: T201 - the command's answer
    return 0
