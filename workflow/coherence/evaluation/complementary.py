"""Judges that look for something else: which failures they catch, and which of them the main judge misses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.ablations import why_not_run
from coherence.evaluation.agreement import exact_share
from coherence.evaluation.cross_judge import judge_splits_of
from coherence.evaluation.failure_rates import counts_of
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion
from coherence.stats.tables import NEWCOMBE, Comparison, Counts, compare

Flags = Mapping[str, bool]


class Complement(Record, frozen=True):
    """Flagged by any of `judges`, on the trajectories with known outcome that every judge that ran judged.

    `caught` is of the failures, `beyond` of those the main judge leaves unflagged (of none where it was not
    run), `alarms` of the passes. `not_run` says why a judge has no numbers.
    """

    dataset: str
    main: str
    judges: str
    n: int
    caught: Proportion
    beyond: Proportion
    alarms: Proportion
    comparison: Comparison
    not_run: str = ""
    left_out: int = 0
    simulated: str = ""


def complementary(rows: Iterable[Row], settings: EvaluationSettings) -> Iterator[Complement]:
    """Yield the main judge, each complementary one alone and in union with it, and the union of all."""
    for members in by_dataset(rows).values():
        there = {name for row in members for name in row.verdicts}
        for main, others in settings.complementary.items():
            if main in there and there & set(others):
                yield from _compared(members, main, [name for name in others if name in there], settings)


def _compared(
    rows: Sequence[Row], main: str, others: Sequence[str], settings: EvaluationSettings
) -> Iterator[Complement]:
    divided = judge_splits_of(rows, settings)
    reasons = {name: why_not_run(rows, name, divided.get(name)) for name in (main, *others)}
    flags = {
        name: _flags(split.risky, split.safe) for name, split in divided.items() if not reasons.get(name)
    }
    ran = [name for name in (main, *others) if not reasons[name]]
    common = [row for row in rows if row.excluded is None and all(row.id in flags[name] for name in ran)]
    known = [row for row in common if row.outcome != "unknown"] if ran else []
    included = sum(row.excluded is None for row in rows)

    def row_of(*judges: str) -> Complement:
        silent = next((f"{name}: {reasons[name]}" for name in judges if reasons[name]), "")
        counted = [] if silent else known
        return _row(
            counted, main, judges, flags, (silent, included - len(counted), settings, rows[0].dataset)
        )

    yield row_of(main)
    yield from (row_of(name) for name in others)
    yield from (row_of(main, name) for name in others)
    if len(ran) > 2 and main in ran:
        yield row_of(*ran)


def _flags(risky: Iterable[Row], safe: Iterable[Row]) -> dict[str, bool]:
    return {row.id: True for row in risky} | {row.id: False for row in safe}


def _row(
    rows: Sequence[Row],
    main: str,
    judges: Sequence[str],
    flags: Mapping[str, Flags],
    rest: tuple[str, int, EvaluationSettings, str],
) -> Complement:
    not_run, left_out, settings, dataset = rest
    risky = [row for row in rows if any(flags[name][row.id] for name in judges)]
    found = {row.id for row in risky}
    safe = [row for row in rows if row.id not in found]
    counts = counts_of(risky, safe) if rows else Counts(0, 0, 0, 0)
    missed = [row for row in rows if row.outcome == "failed" and flags.get(main, {}).get(row.id) is False]
    passes = counts.n - counts.risky_fail - counts.safe_fail
    return Complement(
        dataset=dataset,
        main=main,
        judges=" + ".join(judges),
        n=len(rows),
        caught=exact_share(counts.risky_fail, counts.risky_fail + counts.safe_fail),
        beyond=exact_share(sum(row.id in found for row in missed), len(missed)),
        alarms=exact_share(counts.risky_n - counts.risky_fail, passes),
        comparison=compare(counts),
        not_run=not_run,
        left_out=left_out,
        simulated=settings.simulated.get(dataset, ""),
    )


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "main": "main",
    "judges": "judges",
    "not_run": "not_run",
    "n": "n",
    **proportion_fields("caught", "caught_count", "caught"),
    **proportion_fields("beyond", "beyond_count", "beyond"),
    **proportion_fields("alarms", "alarms_count", "alarms"),
    "risky_fail": "comparison.counts.risky_fail",
    "risky_n": "comparison.counts.risky_n",
    "safe_fail": "comparison.counts.safe_fail",
    "safe_n": "comparison.counts.safe_n",
    "gap": "comparison.gap",
    "gap_low": "comparison.interval.low",
    "gap_high": "comparison.interval.high",
    "n_left_out": "left_out",
    "simulated": "simulated",
}


def _ran(cell: Callable[[Complement], str]) -> Callable[[Complement], str]:
    return lambda row: wording.NONE if row.not_run else cell(row)


_COLUMNS: Final[dict[str, Callable[[Complement], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Flagged by any of": lambda row: row.judges,
    "Main judge": lambda row: row.main,
    "n": lambda row: f"not run: {row.not_run}" if row.not_run else wording.count(row.n),
    "Failures caught": _ran(lambda row: wording.proportion(row.caught)),
    "Caught of those the main judge misses": _ran(lambda row: wording.proportion(row.beyond)),
    "Passes flagged": _ran(lambda row: wording.proportion(row.alarms)),
    "Gap": _ran(lambda row: wording.gap(row.comparison)),
    "Left out": lambda row: wording.left_out(trajectories=row.left_out),
}


def table(rows: Sequence[Complement]) -> Table:
    """Return `complementary`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="complementary",
        title="Failures caught by complementary judges",
        caption=(
            "n: trajectories with known outcome that the main judge and every complementary one that ran "
            f"judged; the rest is left out. Shares: count/n (in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). "
            "Gap: flagged less unflagged failure rate in percentage points "
            f"({LEVEL_TEXT} {NEWCOMBE} interval). Unions catch no fewer failures than their members by "
            "construction: what they cost is in the passes flagged."
        ),
    )
