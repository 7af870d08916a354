"""What `coherence inspect` counts in a folder, and the words it says it in."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import sqrt
from pathlib import Path
from typing import Final

import msgspec

from coherence import formats
from coherence.cli.arguments import say
from coherence.cli.config_checks import RESERVED
from coherence.cli.sections import INGESTED
from coherence.formats import Reading, Source
from coherence.preprocess import PreprocessSettings, preprocess

FLAGGED_SHARE: Final = 0.3  # the paper flagged 36 % and 28 %
Z_OF_POWER: Final = 1.959964 + 0.841621  # of a two-sided test at 5 %, and of 80 % power
EXACT_UP_TO: Final = 1500  # trajectories; beyond, the exact enumeration takes too long for a glance
NAMED: Final = 12  # counts in a line
MOST_NAMED: Final = 40  # names in a line
LONGEST: Final = 60  # characters of a name
ENDINGS: Final = re.compile(r"(\.(csv|tsv)(\.gz)?|\.parquet|\.pq)$", re.IGNORECASE)


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
    known: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)  # by group and task
    verdicts: dict[str, Counter[str]] = msgspec.field(default_factory=dict)  # by judge
    joined: dict[str, Counter[tuple[str, str]]] = msgspec.field(default_factory=dict)  # verdict and outcome

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
        group = f"{trial.scaffold or ''} {trial.backbone or ''}"
        self.known[group, trial.task] += trial.outcome.status != "unknown"
        for word in reading.judgements:
            self.verdicts.setdefault(word.judge, Counter())[word.state] += 1
            self.joined.setdefault(word.judge, Counter())[word.state, trial.outcome.status] += 1
        if reading.trajectory is not None:
            transcript = preprocess(reading.trajectory, PreprocessSettings())
            self.judged += 1
            self.judged_outcomes[trial.outcome.status] += 1
            self.characters += len(msgspec.json.encode(transcript.steps))
            self.without_thoughts += transcript.substrate == "none"
            self.thoughts.update(t.source for step in transcript.steps for t in step.thoughts)


def tally(root: Path, name: str, source: Source | None = None) -> Tally:
    """Read everything below the folder, one unit at a time."""
    reader = formats.load(name)
    result = Tally()
    for unit in reader.discover(root):
        for reading in reader.read(root, unit, source or Source("inspected", str(root))):
            result.add(reading)
            if result.trials % 1000 == 0:
                say(f"{result.trials} trials read")
    return result


def listed(counts: Counter[str]) -> str:
    """Return counts as "a 3, b 1", the most frequent first; "none" when empty."""
    more = f" and {len(counts) - NAMED:,} more" if len(counts) > NAMED else ""
    return (", ".join(f"{name} {count:,}" for name, count in counts.most_common(NAMED)) or "none") + more


def named(names: Collection[str]) -> str:
    """Return names in one line, not too many of them."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name[:LONGEST] for name in list(names)[:MOST_NAMED]) + more


def attempts(tasks: Counter[str]) -> str:
    """Return how often tasks were tried."""
    return f"{len(tasks):,} tasks ({spread(tasks.values())})"


def spread(sizes: Iterable[int]) -> str:
    """Return how many have how many attempts; of many different sizes the bounds."""
    often = Counter(sizes)
    if len(often) > NAMED:
        return f"{min(often)} to {max(often)} attempts each"
    said = ", ".join(f"{count:,} with {tries}" for tries, count in sorted(often.items()))
    return f"{said} attempt{'s' if set(often) != {1} else ''} each"


def scatter(known: Iterable[int]) -> str:
    """Return whether scatter can be seen, from the attempts with an outcome at each task of a group."""
    sizes = list(known)
    again = sum(size > 1 for size in sizes)
    if not again:
        return "cannot be seen: no task has two attempts with an outcome in one group"
    return f"can be seen in {again:,} of {len(sizes):,} tasks of a group: two attempts or more are known"


def power(outcomes: Counter[str]) -> str:
    """Return what gap this many trajectories with a known outcome can show."""
    n = outcomes["passed"] + outcomes["failed"]
    if n < 4 or not outcomes["failed"] or not outcomes["passed"]:
        return f"none: {outcomes['failed']} failures among {n} trajectories with a known outcome"
    if n > EXACT_UP_TO:
        return f"n = {n:,} trajectories with a known outcome: gaps of 10 points and less are within reach"
    return _power(round(FLAGGED_SHARE * n), n, outcomes["failed"], f"{FLAGGED_SHARE:.0%}")


def power_of(joined: Counter[tuple[str, str]]) -> str:
    """Return what gap the verdicts that are there can show, those of trajectories with a known outcome."""
    failed, passed = (
        {state: joined[state, outcome] for state in ("flagged", "unflagged")}
        for outcome in ("failed", "passed")
    )
    flagged, n = failed["flagged"] + passed["flagged"], sum(failed.values()) + sum(passed.values())
    if not 0 < flagged < n:
        return f"none: {flagged:,} flagged among {n:,} trajectories with a verdict and a known outcome"
    if n < 4 or not any(failed.values()) or not any(passed.values()):
        return power(Counter(failed=sum(failed.values()), passed=sum(passed.values())))
    return _power(flagged, n, sum(failed.values()), f"{flagged / n:.1%}, as the table has it")


def _power(flagged: int, n: int, failed: int, share: str) -> str:
    from coherence.stats.power import detectable_gap  # noqa: PLC0415 - scipy is slow to import

    is_exact = n <= EXACT_UP_TO
    if is_exact:
        gap = detectable_gap(flagged, n - flagged, failed / n)
    else:
        gap = Z_OF_POWER * sqrt(failed / n * (1 - failed / n) * (1 / flagged + 1 / (n - flagged)))
    how = "exact, Fisher two-sided at 5 %" if is_exact else "normal approximation, two-sided at 5 %"
    size = "no gap, however large" if gap is None else f"a gap of {gap * 100:.0f} points or more"
    return (
        f"with {flagged:,} of {n:,} trajectories with a known outcome flagged ({share}), 80 % power ({how}) "
        f"for {size}"
    )


def repeated(found: Tally) -> str:
    """Return whether the runs take part in the analysis of repeated outcomes."""
    said = scatter(found.known.values())
    if max(found.known.values(), default=0) > 1:
        return f"scatter {said}; the workflow takes it apart by itself"
    return f"scatter {said}"


def slug(path: Path, taken: Collection[str] = ()) -> str:
    """Return a name for a config's entry, from the path's; none of those taken or reserved."""
    plain = ENDINGS.sub("", path.resolve().name.lower())
    name = re.sub(r"[^a-z0-9.-]+", "-", plain).strip("-.") or "my-runs"
    name = f"{name}-runs" if name in (*RESERVED, INGESTED) else name
    numbers = iter(range(2, len(taken) + 3))
    free = name
    while free in taken:
        free = f"{name}-{next(numbers)}"
    return free


def body(lines: Mapping[str, str | Iterable[str]]) -> str:
    """Return facts one below the other; several of one label are set below each other."""
    width = max(map(len, lines))
    told = {label: [said] if isinstance(said, str) else [*said] or ["none"] for label, said in lines.items()}
    return "\n".join(
        f"{label if place == 0 else '':<{width}}  {text}"
        for label, texts in told.items()
        for place, text in enumerate(texts)
    )
