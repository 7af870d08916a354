"""Agreement of a judge with reference judgements of the same trajectories; labels to measure it on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from statsmodels.stats.inter_rater import cohens_kappa

from coherence.errors import InputError
from coherence.evaluation import wording
from coherence.evaluation.render import Table, proportion_fields, records, shown
from coherence.files import digest
from coherence.judges.recorded import Verdict, read_verdicts
from coherence.records import Judgement, Record, Span
from coherence.stats.intervals import LEVEL_TEXT, Interval
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion
from coherence.stats.rounding import half_up

Part = Literal["development", "test"]

ASYMPTOTIC: Final = "asymptotic (delta method)"


class Label(Record, frozen=True):
    """A reader's verdict as a judgement; `file` is the name that the line has for its trajectory."""

    file: str
    reader: str
    judgement: Judgement


class Kappa(Record, frozen=True):
    """Cohen's kappa with its interval; None with a reason where it is not defined."""

    value: float | None = None
    interval: Interval | None = None
    reason: str | None = None


class Agreement(Record, frozen=True):
    """How far a candidate's judgements agree with a reference's on the trajectories both judged.

    `unjudged_*` and `missing_*` count trajectories left out because that side did not judge them or has no
    judgement of them, `reference_prefixes` the reference's verdicts on prefixes, which are left out too.
    Precision is the share of candidate flags that the reference flags too, recall the share of reference
    flags found. `reference_spans` are those met by a candidate span that shares a step, `candidate_spans` the
    reverse; `conflict_types` are reference spans met whose nearest candidate span is of the same type.
    """

    candidate: str
    reference: str
    n: int
    both: int
    candidate_only: int
    reference_only: int
    neither: int
    unjudged_candidate: int
    unjudged_reference: int
    missing_candidate: int
    missing_reference: int
    precision: Proportion
    recall: Proportion
    agreed: Proportion
    kappa: Kappa
    reference_spans: Proportion
    candidate_spans: Proportion
    conflict_types: Proportion
    part: str = "all"
    reference_prefixes: int = 0


def split(trajectory_key: str) -> Part:
    """Return the half a trajectory belongs to, by the SHA-256 of its key: the same in every run."""
    state = sha256(trajectory_key.encode("utf-8", "surrogatepass")).digest()
    return "test" if state[-1] % 2 else "development"


def read_labels(path: Path) -> Iterator[Label]:
    """Yield the labels of a JSON Lines file (as `recorded` judges read); InputError names a bad line."""
    basis = f"{path.name} {digest(path.read_bytes())[:12]}" if path.is_file() else path.name
    for number, line in read_verdicts(path):
        if line.after_step is not None:
            continue  # `prefix_labels` has it
        name, reader = _named(line)
        if name is None or line.state is None:
            raise InputError(
                f"{path}:{number}: a label names its trajectory (`file`) and has `flagged_spans`"
            )
        judgement = Judgement(
            trajectory=name,
            judge=f"reader {reader}",
            kind="recorded",
            state=line.state,
            reason=line.reason,
            summary=line.summary,
            spans=line.spans or (),
            rating=line.rating,
            basis=basis,
        )
        yield Label(name, reader, judgement)


def prefix_labels(path: Path) -> list[tuple[str, str]]:
    """Return (trajectory, reader) of each label that is on a prefix: agreement is on whole trajectories."""
    named = (_named(line) for _, line in read_verdicts(path) if line.after_step is not None)
    return [(name or "", reader) for name, reader in named]


def _named(line: Verdict) -> tuple[str | None, str]:
    return line.file or line.trial or line.trajectory, str(line.reader or "unnamed")


def by_trajectory(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """Return the judgements by trajectory; InputError where there are two of one."""
    found: dict[str, Judgement] = {}
    for judgement in judgements:
        if found.setdefault(judgement.trajectory, judgement) is not judgement:
            raise InputError(
                f"{judgement.trajectory}: two judgements by {judgement.judge}; agreement compares one a "
                "trajectory: choose a sample or a reader"
            )
    return found


def compare(
    candidate: Mapping[str, Judgement],
    reference: Mapping[str, Judgement],
    names: tuple[str, str] = ("candidate", "reference"),
    part: Part | None = None,
    on_prefixes: Iterable[str] = (),
) -> Agreement:
    """Return the agreement of two judges, each given by trajectory; `part` keeps one half of the keys.

    `on_prefixes` has the key of each verdict of the reference's that is on a prefix.
    """
    keys = sorted(key for key in {*candidate, *reference} if part in {None, split(key)})
    common = [key for key in keys if key in candidate and key in reference]
    judged = [key for key in common if "unjudged" not in {candidate[key].state, reference[key].state}]
    pairs = [(candidate[key], reference[key]) for key in judged]
    flags = [(ours.state == "flagged", theirs.state == "flagged") for ours, theirs in pairs]
    both, ours_only, theirs_only = (flags.count(way) for way in ((True, True), (True, False), (False, True)))
    neither = len(flags) - both - ours_only - theirs_only
    return Agreement(
        candidate=names[0],
        reference=names[1],
        n=len(pairs),
        both=both,
        candidate_only=ours_only,
        reference_only=theirs_only,
        neither=neither,
        unjudged_candidate=sum(candidate[key].state == "unjudged" for key in common),
        unjudged_reference=sum(reference[key].state == "unjudged" for key in common),
        missing_candidate=sum(key not in candidate for key in keys),
        missing_reference=sum(key not in reference for key in keys),
        precision=exact_share(both, both + ours_only),
        recall=exact_share(both, both + theirs_only),
        agreed=exact_share(both + neither, len(pairs)),
        kappa=kappa(both, ours_only, theirs_only, neither),
        reference_spans=met([(flagging(theirs), flagging(ours)) for ours, theirs in pairs]),
        candidate_spans=met([(flagging(ours), flagging(theirs)) for ours, theirs in pairs]),
        conflict_types=same_type(pairs),
        part=part or "all",
        reference_prefixes=sum(part in {None, split(key)} for key in on_prefixes),
    )


def exact_share(count: int, n: int) -> Proportion:
    """Return count/n with its Clopper-Pearson interval."""
    return proportion(count, n, clopper_pearson)


def kappa(both: int, candidate_only: int, reference_only: int, neither: int) -> Kappa:
    """Return Cohen's kappa of two yes-or-no judges, its interval cut to -1 and 1."""
    n = both + candidate_only + reference_only + neither
    if n == 0:
        return Kappa(reason="no trajectory was judged by both")
    if n in (both, neither):
        return Kappa(reason="both judges say the same of every trajectory, so chance agreement is complete")
    if 0 in (
        both + candidate_only,
        both + reference_only,
        reference_only + neither,
        candidate_only + neither,
    ):
        return Kappa(0.0, reason="a judge says the same of every trajectory, so the interval is not defined")
    result = cohens_kappa([[both, candidate_only], [reference_only, neither]])
    low, high = max(-1.0, float(result.kappa_low)), min(1.0, float(result.kappa_upp))
    return Kappa(float(result.kappa), Interval(low, high, ASYMPTOTIC, n))


def flagging(judgement: Judgement) -> tuple[Span, ...]:
    """Return the spans of a judgement that flag."""
    return tuple(span for span in judgement.spans if span.flags)


def shared_steps(span: Span, other: Span) -> int:
    """Return how many step numbers two spans share."""
    return max(0, min(span.end_step, other.end_step) - max(span.start_step, other.start_step) + 1)


def met(pairs: Iterable[tuple[Sequence[Span], Sequence[Span]]]) -> Proportion:
    """Return the share of the first spans of each pair that share a step with one of the second."""
    hits = [any(shared_steps(span, other) for other in others) for spans, others in pairs for span in spans]
    return exact_share(sum(hits), len(hits))


def nearest(span: Span, others: Sequence[Span]) -> Span | None:
    """Return the first of the spans that share the most steps with one, None where none shares any."""
    shared = [shared_steps(span, other) for other in others]
    return others[shared.index(max(shared))] if any(shared) else None


def same_type(pairs: Iterable[tuple[Judgement, Judgement]]) -> Proportion:
    """Return the share of the reference spans met whose nearest candidate span has their type."""
    found = [(span, nearest(span, flagging(ours))) for ours, theirs in pairs for span in flagging(theirs)]
    types = [span.conflict_type == other.conflict_type for span, other in found if other is not None]
    return exact_share(sum(types), len(types))


FIELDS: Final[dict[str, str]] = {
    "candidate": "candidate",
    "reference": "reference",
    "part": "part",
    "n": "n",
    "both_flag": "both",
    "candidate_only": "candidate_only",
    "reference_only": "reference_only",
    "neither_flags": "neither",
    **proportion_fields("precision", "precision_count", "precision"),
    **proportion_fields("recall", "recall_count", "recall"),
    **proportion_fields("agreed", "agreed_count", "agreed"),
    "kappa": "kappa.value",
    "kappa_low": "kappa.interval.low",
    "kappa_high": "kappa.interval.high",
    "kappa_interval": "kappa.interval.method",
    "kappa_reason": "kappa.reason",
    **proportion_fields("reference_spans", "reference_spans_met", "reference_spans"),
    **proportion_fields("candidate_spans", "candidate_spans_met", "candidate_spans"),
    **proportion_fields("conflict_types", "conflict_types_equal", "conflict_types"),
    "n_unjudged_candidate": "unjudged_candidate",
    "n_unjudged_reference": "unjudged_reference",
    "n_missing_candidate": "missing_candidate",
    "n_missing_reference": "missing_reference",
    "n_reference_prefixes": "reference_prefixes",
}

_COLUMNS: Final[dict[str, Callable[[Agreement], str]]] = {
    "Judge": lambda row: row.candidate,
    "Reference": lambda row: row.reference,
    "Part": lambda row: row.part,
    "n": lambda row: str(row.n),
    "Precision": lambda row: wording.proportion(row.precision),
    "Recall": lambda row: wording.proportion(row.recall),
    "Kappa": lambda row: kappa_text(row.kappa),
    "Reference spans met": lambda row: wording.proportion(row.reference_spans),
    "Judge's spans met": lambda row: wording.proportion(row.candidate_spans),
    "Same type": lambda row: wording.proportion(row.conflict_types),
    "Left out": lambda row: wording.left_out(
        unjudged_by_judge=row.unjudged_candidate,
        unjudged_by_reference=row.unjudged_reference,
        missing_from_judge=row.missing_candidate,
        missing_from_reference=row.missing_reference,
        reference_verdicts_on_prefixes=row.reference_prefixes,
    ),
}


def kappa_text(value: Kappa) -> str:
    """Return "0.58 (0.27 to 0.89)", without bounds where there are none."""
    if value.value is None:
        return wording.NONE
    text = str(half_up(value.value, 2))
    if value.interval is None:
        return text
    return f"{text} ({half_up(value.interval.low, 2)} to {half_up(value.interval.high, 2)})"


def table(rows: Sequence[Agreement]) -> Table:
    """Return `agreement`: a row a comparison; its `records` are the rows as mappings."""
    return Table(
        name="agreement",
        title="Agreement with reference judgements",
        caption=(
            f"Count/n (share in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). Precision: of the trajectories "
            "the judge flags, those the reference flags. Recall: of those the reference flags, those the "
            f"judge flags. Kappa: Cohen's, {LEVEL_TEXT} interval {ASYMPTOTIC}. Spans met: those that share a "
            "step with a span of the other side. Same type: of the reference spans met. The reference is "
            "itself a judgement, not the truth."
        ),
        columns=tuple(_COLUMNS),
        rows=shown(rows, _COLUMNS),
        fields=tuple(FIELDS),
        records=records(rows, FIELDS),
    )
