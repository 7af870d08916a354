"""How early a judge flags without hindsight, beside where the whole run's judgement puts the flag."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.lead_time import OUTCOMES
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.watched import Watched
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.medians import METHOD, Summary, summarise
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion


class OnTheWay(Record, frozen=True):
    """The runs of one judge on the way: all, or those with one outcome.

    `flagged` is of the runs whose fate is known, `in_hindsight` of those whose whole was judged, `only` of
    those flagged in hindsight with a known fate, `retracted` of those flagged on the way with the whole
    judged. `elapsed` is the share of the run over at the flag, `left` the steps then still to come, and
    `hindsight` the share elapsed at the place hindsight points to, in the same runs as `gain`.
    """

    dataset: str
    judge: str
    of: str
    runs: int
    looks: int
    unjudged_looks: int
    flagged: Proportion
    in_hindsight: Proportion
    only: Proportion
    retracted: Proportion
    wavered: int
    elapsed: Summary
    left: Summary
    gain: Summary
    hindsight: Summary
    waited: Summary
    not_looked_at: int
    unjudged_before: int
    unjudged: int
    whole_unjudged: int
    not_placed: int
    simulated: str = ""


def on_the_way(runs: Iterable[Watched]) -> Iterator[OnTheWay]:
    """Yield each judge of each dataset over failures, passes and all runs."""
    for (dataset, judge), group in groupby(runs, key=lambda run: (run.dataset, run.judge)):
        members = list(group)
        for of, outcomes in OUTCOMES.items():
            chosen = [run for run in members if run.outcome in outcomes]
            yield _summed((dataset, judge, of), chosen, members[0].simulated)


def share(runs: Sequence[Watched], counts: Callable[[Watched], bool]) -> Proportion:
    """Return the share of the runs that count, with its exact interval."""
    return proportion(sum(map(counts, runs)), len(runs), clopper_pearson)


def _summed(names: tuple[str, str, str], runs: Sequence[Watched], simulated: str) -> OnTheWay:
    dataset, judge, of = names
    known = [run for run in runs if run.fate != "unjudged"]
    flagged = [run for run in runs if run.flagged_after is not None]
    whole = [run for run in runs if run.whole == "flagged"]
    both = [run for run in flagged if run.gain is not None]
    return OnTheWay(
        dataset=dataset,
        judge=judge,
        of=of,
        runs=len(runs),
        looks=sum(run.looks for run in runs),
        unjudged_looks=sum(run.unjudged for run in runs),
        flagged=share(known, lambda run: run.fate == "flagged"),
        in_hindsight=share([run for run in runs if run.whole != "unjudged"], lambda r: r.whole == "flagged"),
        only=share([run for run in whole if run.fate != "unjudged"], lambda run: run.fate == "unflagged"),
        retracted=share([r for r in flagged if r.whole != "unjudged"], lambda run: run.whole == "unflagged"),
        wavered=sum(run.wavered for run in runs),
        elapsed=summarise([(run.flagged_after or 0) / run.length for run in flagged]),
        left=summarise([run.steps_left for run in flagged if run.steps_left is not None]),
        gain=summarise([run.gain for run in both if run.gain is not None]),
        hindsight=summarise([(run.place or 0) / run.length for run in both]),
        waited=summarise([run.waited for run in both if run.waited is not None]),
        not_looked_at=sum(run.looks == 0 for run in runs),
        unjudged_before=sum(run.unjudged_before > 0 for run in runs),
        unjudged=len(runs) - len(known),
        whole_unjudged=sum(run.whole == "unjudged" for run in runs),
        not_placed=sum(run.place is None for run in whole),
        simulated=simulated,
    )


def _summary(name: str) -> dict[str, str]:
    return {
        f"{name}_n": f"{name}.n",
        f"{name}_median": f"{name}.median",
        f"{name}_low": f"{name}.interval.low",
        f"{name}_high": f"{name}.interval.high",
        f"{name}_mean": f"{name}.mean",
    }


FIELDS: Final[dict[str, str]] = {
    **{name: name for name in ("dataset", "judge", "of", "runs")},
    "prefixes": "looks",
    "prefixes_unjudged": "unjudged_looks",
    **proportion_fields("flagged", "flagged_on_the_way", "flagged_share"),
    **proportion_fields("in_hindsight", "flagged_in_hindsight", "in_hindsight_share"),
    **proportion_fields("only", "only_in_hindsight", "only_share"),
    **proportion_fields("retracted", "retracted", "retracted_share"),
    "wavered": "wavered",
    **_summary("elapsed"),
    **_summary("hindsight"),
    **_summary("left"),
    **_summary("gain"),
    **_summary("waited"),
    "n_not_looked_at": "not_looked_at",
    "n_unjudged_before_the_flag": "unjudged_before",
    "n_unjudged": "unjudged",
    "n_whole_unjudged": "whole_unjudged",
    "n_not_placed": "not_placed",
    "simulated": "simulated",
}


def middle(summary: Summary, of_share: bool = False) -> str:
    """Return "12 (8 to 15; n = 9)"; shares as percentages."""
    said = wording.percent if of_share else wording.number
    if summary.median is None:
        return wording.NONE
    bounds = summary.interval
    within = "" if bounds is None else f"{said(bounds.low)} to {said(bounds.high)}; "
    return f"{said(summary.median)} ({within}n = {summary.n:,})"


def _looks(row: OnTheWay) -> str:
    return f"{row.looks:,}" + (f", {row.unjudged_looks:,} unjudged" if row.unjudged_looks else "")


_COLUMNS: Final[dict[str, Callable[[OnTheWay], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Runs": lambda row: row.of,
    "n": lambda row: wording.count(row.runs),
    "Prefixes": _looks,
    "Flagged on the way": lambda row: wording.proportion(row.flagged),
    "by the whole run": lambda row: wording.proportion(row.in_hindsight),
    "Only in hindsight": lambda row: wording.proportion(row.only),
    "Retracted": lambda row: wording.proportion(row.retracted),
    "Elapsed at the flag (%)": lambda row: middle(row.elapsed, of_share=True),
    "Elapsed at hindsight's place (%)": lambda row: middle(row.hindsight, of_share=True),
    "Hindsight gain (steps)": lambda row: middle(row.gain),
    "of it the grid": lambda row: middle(row.waited),
    "Counted apart": lambda row: wording.left_out(
        unjudged_on_the_way=row.unjudged,
        unjudged_as_a_whole=row.whole_unjudged,
        not_placed=row.not_placed,
        never_looked_at=row.not_looked_at,
        unjudged_before_the_flag=row.unjudged_before,
        wavered=row.wavered,
    ),
}


def table(rows: Sequence[OnTheWay]) -> Table:
    """Return `prefix`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="prefix",
        title="Flags without hindsight: growing prefixes",
        caption=(
            "Each run judged again as far as it had come, at the steps of the config's grid; a flag on the "
            "way rests on nothing later. All steps are non-empty ones. Shares: count/n (in %; "
            f"{LEVEL_TEXT} {CLOPPER_PEARSON} interval). Flagged on the way: at least one prefix flags, of "
            "runs of which that can be said; a run that no prefix flags and that has an unjudged one is left "
            "out, never unflagged. Only in hindsight: of the runs the whole flags. Retracted: of the runs "
            "flagged on the way, those the whole leaves unflagged. Hindsight's place: the first "
            "acknowledgment that the whole run's judgement names. Hindsight gain: from there to the end of "
            "the shortest prefix that flags, below 0 where that comes first; of it the grid: to the first "
            "look that holds the place, the rest is what the judge had to see next. Medians (interval by "
            f"{METHOD}, at least {LEVEL_TEXT}; none below 6 values). Never looked at: shorter than the first "
            "prefix of the grid, and so not flagged on the way. Unjudged before the flag: it may have been "
            "due earlier. Wavered: a longer prefix leaves unflagged what a shorter one flagged."
        ),
    )
