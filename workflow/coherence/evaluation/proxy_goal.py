"""Flagged spans looked at again: how many are acknowledged reward hacking, and what came of their runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from coherence.evaluation import wording
from coherence.evaluation.agreement import exact_share, flagging
from coherence.evaluation.cross_judge import Words
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.records import Judgement, Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion
from coherence.stats.tables import FISHER, Comparison, Counts, compare


class SecondLook(Record, frozen=True):
    """The second judge's word on the spans of `of`, in trajectories it judged.

    `spans` are those it calls acknowledged reward hacking, of those it answered on; on `lost` others there is
    no answer. `located` those of them whose quotes of proxy and
    goal were both found; `comparison` sets the flagged trajectories with such a span against the other
    flagged ones. `unjudged` counts flagged trajectories without its word.
    """

    dataset: str
    judge: str
    of: str
    spans: Proportion
    located: Proportion
    comparison: Comparison
    unjudged: int
    lost: int = 0
    simulated: str = ""


def second_looks(rows: Iterable[Row], settings: EvaluationSettings, words: Words) -> Iterator[SecondLook]:
    """Yield each second judge on each dataset that it and the first one judge."""
    for dataset, members in by_dataset(rows).items():
        said = words.get(dataset, {})
        for judge, of in settings.second_looks.items():
            if judge in said and of in said:
                note = settings.simulated.get(dataset, "")
                yield _look(members, (judge, of), said[judge], said[of], note)


def _look(
    rows: Sequence[Row],
    names: tuple[str, str],
    second: Mapping[str, Judgement],
    first: Mapping[str, Judgement],
    simulated: str,
) -> SecondLook:
    flagged = [
        row for row in rows if row.excluded is None and row.id in first and first[row.id].state == "flagged"
    ]
    judged = [row for row in flagged if row.id in second and second[row.id].state != "unjudged"]
    shown = {row.id: {span.span_id for span in flagging(first[row.id])} for row in judged}
    lost = {row.id: shown[row.id] & {span.number for span in second[row.id].lost} for row in judged}
    n_shown, n_lost = (sum(map(len, spans.values())) for spans in (shown, lost))
    hacking = [span for row in judged for span in flagging(second[row.id]) if span.span_id in shown[row.id]]
    found = [span for span in hacking if span.acknowledgment_check.step is not None]
    located = [span for span in found if span.action_check.step is not None]
    return SecondLook(
        dataset=rows[0].dataset,
        judge=names[0],
        of=names[1],
        spans=exact_share(len(hacking), n_shown - n_lost),
        located=exact_share(len(located), len(hacking)),
        comparison=compare(_counts(judged, second)),
        unjudged=len(flagged) - len(judged),
        lost=n_lost,
        simulated=simulated,
    )


def _counts(rows: Iterable[Row], second: Mapping[str, Judgement]) -> Counts:
    sides = [(second[row.id].state == "flagged", row.outcome) for row in rows if row.outcome != "unknown"]
    yes = [outcome for side, outcome in sides if side]
    no = [outcome for side, outcome in sides if not side]
    return Counts(yes.count("failed"), len(yes), no.count("failed"), len(no))


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "judge": "judge",
    "of": "of",
    **proportion_fields("spans", "hacking_spans", "hacking"),
    **proportion_fields("located", "located_spans", "located"),
    "yes_fail": "comparison.counts.risky_fail",
    "yes_n": "comparison.counts.risky_n",
    "no_fail": "comparison.counts.safe_fail",
    "no_n": "comparison.counts.safe_n",
    "fisher_p": "comparison.fisher_p",
    "n_unjudged": "unjudged",
    "spans_lost": "lost",
    "simulated": "simulated",
}

_COLUMNS: Final[dict[str, Callable[[SecondLook], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Judge": lambda row: row.judge,
    "Spans of": lambda row: row.of,
    "Acknowledged reward hacking": lambda row: wording.proportion(row.spans),
    "Proxy and goal found": lambda row: wording.proportion(row.located),
    "Failed with": lambda row: f"{row.comparison.counts.risky_fail}/{row.comparison.counts.risky_n}",
    "Failed without": lambda row: f"{row.comparison.counts.safe_fail}/{row.comparison.counts.safe_n}",
    "p": lambda row: wording.p_value(row.comparison.fisher_p),
    "Left out": lambda row: wording.left_out(unjudged=row.unjudged, spans_lost=row.lost),
}


def table(rows: Sequence[SecondLook]) -> Table:
    """Return `proxy_goal`."""
    return table_of(
        rows,
        _COLUMNS,
        FIELDS,
        name="proxy_goal",
        title="Flagged spans looked at again: acknowledged reward hacking",
        caption=(
            "Acknowledged reward hacking: of the flagging spans in the flagged trajectories that were "
            f"looked at again (share in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). Proxy and goal found: "
            "of those, both quotes stand in the transcript. Failed with and without: flagged trajectories "
            f"with known outcome that have such a span, and that have none; p: {FISHER}. Left out: flagged "
            "trajectories the second judge did not judge; spans lost: those of judged trajectories that it "
            "gave no answer on, which are in no share."
        ),
    )
