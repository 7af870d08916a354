"""`coherence inspect FOLDER`: what a folder of runs holds, and the config entry to paste."""

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec
import yaml

from coherence import formats
from coherence.cli.arguments import printable, say
from coherence.cli.config_checks import RESERVED
from coherence.errors import InputError
from coherence.formats import Reading, Source, Unit
from coherence.formats.tau_bench import is_results
from coherence.llm.prices import Estimate, estimate
from coherence.preprocess import PreprocessSettings, preprocess

SHARD_SIZE: Final = 250  # trajectories a shard, as measured to keep jobs short and few
PROMPT_CHARS: Final = 15_000  # a judge's own instructions, about the size of the shipped detector prompt
REPLY_TOKENS: Final = 900  # a reply with one or two spans
FLAGGED_SHARE: Final = 0.3  # the paper flagged 36 % and 28 %
# Other files: tau-bench's if they look like them, else ATIF.
SUFFIXES: Final = {".traj.json": "mini-swe-agent", ".csv": "table", ".tsv": "table"}
EXACT_UP_TO: Final = 1500  # trajectories; beyond, the exact enumeration takes too long for a glance


class Tally(msgspec.Struct):
    """Running counts over the readings of a folder."""

    trials: int = 0
    judged: int = 0
    tested: int = 0
    characters: int = 0
    without_thoughts: int = 0
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    judged_outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    exceptions: Counter[str] = msgspec.field(default_factory=Counter)
    thoughts: Counter[str] = msgspec.field(default_factory=Counter)
    codes: Counter[str] = msgspec.field(default_factory=Counter)
    tasks: Counter[str] = msgspec.field(default_factory=Counter)
    backbones: Counter[str] = msgspec.field(default_factory=Counter)
    scaffolds: Counter[str] = msgspec.field(default_factory=Counter)
    reasons: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, reading: Reading) -> None:
        """Count one reading."""
        trial = reading.trial
        self.trials += 1
        self.statuses[trial.status] += 1
        self.outcomes[trial.outcome.status] += 1
        self.tested += trial.outcome.tests is not None
        self.tasks[trial.task] += 1
        self.exceptions.update([trial.outcome.exception] if trial.outcome.exception else [])
        self.reasons.update([trial.reason] if trial.reason else [])
        self.backbones.update([trial.backbone] if trial.backbone else [])
        self.scaffolds.update([trial.scaffold] if trial.scaffold else [])
        self.codes.update(deviation.code for deviation in reading.deviations)
        if reading.trajectory is not None:
            transcript = preprocess(reading.trajectory, PreprocessSettings())
            self.judged += 1
            self.judged_outcomes[trial.outcome.status] += 1
            self.characters += len(msgspec.json.encode(transcript.steps))
            self.without_thoughts += transcript.substrate == "none"
            self.thoughts.update(t.source for step in transcript.steps for t in step.thoughts)


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
        other = "tau-bench" if is_results(root) else "atif"
        return next((name for suffix, name in SUFFIXES.items() if root.name.endswith(suffix)), other), ""
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


def tally(root: Path, name: str) -> Tally:
    """Read everything below the folder, one unit at a time."""
    reader = formats.load(name)
    result = Tally()
    for unit in reader.discover(root):
        for reading in reader.read(root, unit, Source("inspected", str(root))):
            result.add(reading)
            if result.trials % 1000 == 0:
                say(f"{result.trials} trials read")
    return result


def listed(counts: Counter[str]) -> str:
    """Return counts as "a 3, b 1", the most frequent first; "none" when empty."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common(12)) or "none"


def attempts(tasks: Counter[str]) -> str:
    """Return how often tasks were tried."""
    often = Counter(tasks.values())
    spread = ", ".join(f"{count:,} with {tries}" for tries, count in sorted(often.items()))
    return f"{len(tasks):,} tasks ({spread} attempt{'s' if set(often) != {1} else ''} each)"


def cost(found: Estimate | None) -> str:
    """Return the estimated cost of one judge as a sentence."""
    if found is None:
        return "unknown: no price is listed for this model"
    return (
        f"about ${found.dollars:,.2f} (${found.low:,.2f} to ${found.high:,.2f}) for {found.requests:,} "
        f"requests to {found.model}; estimated from characters, list prices of {found.prices_of}, "
        f"batches cost half"
    )


def power(outcomes: Counter[str]) -> str:
    """Return what gap this many trajectories with a known outcome can show."""
    n = outcomes["passed"] + outcomes["failed"]
    if n < 4 or not outcomes["failed"] or not outcomes["passed"]:
        return f"none: {outcomes['failed']} failures among {n} trajectories with a known outcome"
    if n > EXACT_UP_TO:
        return f"n = {n:,} trajectories with a known outcome: gaps of 10 points and less are within reach"
    from coherence.stats.power import detectable_gap  # noqa: PLC0415 - scipy is slow to import

    flagged = round(FLAGGED_SHARE * n)
    gap = detectable_gap(flagged, n - flagged, outcomes["failed"] / n)
    size = "no gap, however large" if gap is None else f"a gap of {gap * 100:.0f} points or more"
    return (
        f"with {flagged} of {n} trajectories with a known outcome flagged ({FLAGGED_SHARE:.0%}), 80 % power "
        f"(exact, Fisher two-sided at 5 %) for {size}"
    )


def entry(root: Path, name: str, found: Tally) -> str:
    """Return the config entry to paste."""
    slug = re.sub(r"[^a-z0-9.-]+", "-", root.resolve().name.lower()).strip("-.") or "my-runs"
    dataset: dict[str, object] = {"paths": str(root), "format": name}
    if len(found.backbones) == 1:
        dataset["backbone"] = next(iter(found.backbones))
    dataset["shards"] = max(1, -(-found.trials // SHARD_SIZE))
    key = f"{slug}-runs" if slug in RESERVED else slug
    return yaml.safe_dump({"datasets": {key: dataset}}, sort_keys=False, allow_unicode=True)


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
        "backbones": listed(found.backbones),
        "scaffolds": listed(found.scaffolds),
        "thoughts by source": listed(found.thoughts),
        "without thoughts": empty,
        "ingest deviations": listed(found.codes),
        "cost of one judge": cost(estimate(model, found.judged, characters, REPLY_TOKENS)),
        "power": power(found.judged_outcomes),
    }
    width = max(map(len, lines))
    body = "\n".join(f"{label:<{width}}  {text}" for label, text in lines.items())
    return f"{body}\n\nTo use it, add this to a config file:\n\n{entry(root, name, found)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("folder", type=Path, help="a folder of runs (or one trajectory file)")
    parser.add_argument("--format", choices=sorted(formats.FORMATS), help="default: found by looking")
    parser.add_argument("--model", default="claude-sonnet-4-6", help="the model whose price is estimated")


def run(args: argparse.Namespace) -> int:
    """Print what the folder holds."""
    name, others = (args.format, "") if args.format else guess_format(args.folder)
    print(printable(describe(args.folder, name, others, args.model)))  # noqa: T201 - the command's answer
    return 0
