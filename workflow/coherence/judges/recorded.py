"""The recorded judge: verdicts read from a JSON Lines file.

A line is a Judgement record (its `judge`, `kind` and `basis` are not looked at) that names its trajectory in
one of three ways:

    trajectory  the trajectory's id
    file        the end of the path of a file the trajectory was read from, in whole folder names
    trial       the attempt's name, for instance its folder's

`dataset` narrows each of them. A line with `after_step` is on the prefix that ends with the step of that
number, and on nothing else. `state` may be left out where there is a `rating` and the judge has a threshold;
an unjudged line needs a `reason`. Lines on trajectories that are not there are passed over.

A line of exported spans (spans.jsonl) is one span of a flagged verdict; the lines of one trajectory and
sample belong together. What has no such line is missing: spans do not tell what was left unflagged.

Label files have lines of the same schema. They may say `flagged_spans` for `spans` (and then need no state),
`generic_coherence` for `rating`, `trajectory_summary` for `summary`, and whose label a line is with `reader`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import msgspec

from coherence.errors import InputError
from coherence.files import digest, read_numbered_lines
from coherence.judges import quotes
from coherence.judges.flagging import AbsentQuote, verified
from coherence.judges.prefixes import prefix_id
from coherence.judges.schema import PLACES, Reports
from coherence.records import (
    SPAN_SCHEMA,
    Judgement,
    JudgementState,
    Lost,
    Record,
    Span,
    Substrate,
    Transcript,
    Trial,
)


class Naming(Protocol):
    """A line that names its trajectory."""

    @property
    def trajectory(self) -> str | None:
        """The trajectory's id."""

    @property
    def file(self) -> str | None:
        """The end of the path of a file it was read from."""

    @property
    def trial(self) -> str | None:
        """The attempt's name."""

    @property
    def dataset(self) -> str | None:
        """The dataset it is in, None for any."""


class Verdict(Record, frozen=True):
    """One line of the file."""

    trajectory: str | None = None
    file: str | None = None
    trial: str | None = None
    dataset: str | None = None
    after_step: int | None = None
    state: JudgementState | None = None
    reason: str | None = None
    detail: str = ""
    summary: str = ""
    spans: tuple[Span, ...] | None = None
    spans_known: bool = True
    rating: int | None = None
    substrate: Substrate | None = None
    sample: int = 0
    model: str | None = None
    reply: str | None = None
    replies: tuple[str, ...] = ()
    windows: int = 1
    asked_again: int = 0
    lost: tuple[Lost, ...] = ()
    reader: int | str | None = None
    flagged_spans: tuple[Span, ...] | None = None
    generic_coherence: int | None = None
    trajectory_summary: str = ""
    part: bool = False

    def __post_init__(self) -> None:
        if (self.state == "unjudged") != (self.reason is not None):
            raise ValueError("`reason` belongs to the state unjudged, and that state needs one")


class Schema(Record, frozen=True):
    """What a line says it is."""

    schema: Any = None


MISSING = Verdict(state="unjudged", reason="missing")


class SpanLine(Span, frozen=True, kw_only=True):
    """One line of exported spans."""

    trajectory: str
    dataset: str | None = None
    sample: int = 0

    def verdict(self) -> Verdict:
        """Return the line as part of a verdict."""
        span = Span(**{name: getattr(self, name) for name in Span.__struct_fields__})
        return Verdict(
            trajectory=self.trajectory,
            dataset=self.dataset,
            state="flagged",
            spans=(span,),
            sample=self.sample,
            part=True,
        )


def read_verdicts(path: Path) -> Iterator[tuple[int, Verdict]]:
    """Yield (line number, verdict), labels' names for things put right; InputError names file and line."""
    for number, raw in read_numbered_lines(path, msgspec.Raw):
        line = bytes(raw)
        try:
            if msgspec.json.decode(line, type=Schema).schema == SPAN_SCHEMA:
                yield number, msgspec.json.decode(line, type=SpanLine).verdict()
            else:
                yield number, _plain(msgspec.json.decode(line, type=Verdict))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(f"{path}:{number}: {error}") from error


def _plain(line: Verdict) -> Verdict:
    """Return a line under the names that judgements have."""
    if line.flagged_spans is not None:
        state = line.state or ("flagged" if line.flagged_spans else "unflagged")
        line = msgspec.structs.replace(line, spans=line.flagged_spans, flagged_spans=None, state=state)
    return msgspec.structs.replace(
        line,
        rating=line.rating if line.rating is not None else line.generic_coherence,
        summary=line.summary or line.trajectory_summary,
    )


class RecordedJudge:
    """Repeats the verdicts of a file; its lines may speak of `trials`, which are given by id.

    `rating_at_most` decides the state of every line that has a rating; `reader` keeps one reader's lines;
    `absent_quote` is as in `flagging`, `reports` as in a prompt's header: it says where quotes may stand.
    Raises InputError naming file and line for a line that cannot be read, fits several trials, or repeats
    another one's trial and sample.
    `unmatched` counts the lines on trials that are not there.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        trials: Mapping[str, Trial],
        rating_at_most: int | None = None,
        reader: str | None = None,
        absent_quote: AbsentQuote = "keep",
        reports: Reports = "spans",
    ) -> None:
        self.name = name
        self._reader = reader
        self.unmatched = 0
        self._rating_at_most = rating_at_most
        self._absent_quote = absent_quote
        self._where = PLACES.get(reports, quotes.AGENTS)
        self._verdicts = self._read(path, trials)
        self._basis = f"{path.name} {digest(path.read_bytes())[:12]}"

    @property
    def subjects(self) -> frozenset[str]:
        """The ids of the trajectories and prefixes that its lines are on."""
        return frozenset(self._verdicts)

    def judge(self, transcripts: Iterable[Transcript]) -> Iterator[Judgement]:
        """Yield every recorded judgement of each transcript, or one that says it is missing."""
        for transcript in transcripts:
            for verdict in self._verdicts.get(transcript.id, [MISSING]):
                yield self._judgement(transcript, verdict)

    def _read(self, path: Path, trials: Mapping[str, Trial]) -> dict[str, list[Verdict]]:
        known = names_of(trials)
        lines: dict[tuple[str, int], int] = {}
        verdicts: dict[str, dict[int, Verdict]] = defaultdict(dict)
        for number, line in read_verdicts(path):
            if self._reader is not None and str(line.reader) != self._reader:
                continue
            try:
                verdict = self._decided(line)
                trial = trial_of(verdict, known, trials)
                if trial is None:
                    self.unmatched += 1
                    continue
                if verdict.after_step is not None:
                    trial = prefix_id(trial, verdict.after_step)
                earlier = lines.setdefault((trial, verdict.sample), number)
                if earlier != number:
                    verdict = _joined(verdicts[trial][verdict.sample], verdict, earlier)
            except ValueError as error:
                raise InputError(f"{path}:{number}: {error}") from error
            verdicts[trial][verdict.sample] = verdict
        return {trial: [found[sample] for sample in sorted(found)] for trial, found in verdicts.items()}

    def _decided(self, verdict: Verdict) -> Verdict:
        """Return the verdict with its state."""
        limit = self._rating_at_most
        if limit is not None and verdict.rating is not None and verdict.state != "unjudged":
            state: JudgementState = "flagged" if verdict.rating <= limit else "unflagged"
            return msgspec.structs.replace(verdict, state=state)
        if verdict.state is None:
            raise ValueError("has no `state`, nor a `rating` for which the judge has a threshold")
        return verdict

    def _judgement(self, transcript: Transcript, verdict: Verdict) -> Judgement:
        by_rating = self._rating_at_most is not None and verdict.rating is not None
        judgement = Judgement(
            trajectory=transcript.id,
            judge=self.name,
            kind="recorded",
            state=verdict.state or "unjudged",
            reason=verdict.reason,
            detail=verdict.detail,
            summary=verdict.summary,
            spans=quotes.checked(verdict.spans or (), transcript, self._where),
            spans_known=(verdict.spans is not None and verdict.spans_known) or verdict.state != "flagged",
            rating=verdict.rating,
            substrate=transcript.substrate if transcript.steps else verdict.substrate or "unknown",
            sample=verdict.sample,
            model=verdict.model,
            reply=verdict.reply,
            replies=verdict.replies,
            windows=verdict.windows,
            asked_again=verdict.asked_again,
            lost=verdict.lost,
            basis=self._basis,
        )
        return verified(judgement, self._absent_quote, by_spans=not by_rating)


def names_of(trials: Mapping[str, Trial]) -> dict[tuple[str, str], set[str]]:
    """Return the ids of the trials that each (way of naming, name) fits."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for trial in trials.values():
        names["trajectory", trial.id].add(trial.id)
        names["trial", trial.attempt].add(trial.id)
        for source in trial.sources:
            parts = PurePosixPath(trial.root, source.path).parts
            for start in range(len(parts)):
                names["file", "/".join(parts[start:])].add(trial.id)
    return names


def _joined(earlier: Verdict, later: Verdict, line: int) -> Verdict:
    """Return two lines of spans as one verdict; ValueError where they are not both such lines."""
    if not (earlier.part and later.part):
        raise ValueError(f"line {line} is on the same trajectory and sample")
    return msgspec.structs.replace(earlier, spans=(*(earlier.spans or ()), *(later.spans or ())))


def trial_of(
    line: Naming, names: Mapping[tuple[str, str], set[str]], trials: Mapping[str, Trial]
) -> str | None:
    """Return the id of the trial a line speaks of, None where it is not there; ValueError where unclear."""
    file = None if line.file is None else str(PurePosixPath(line.file))
    given = {"trajectory": line.trajectory, "file": file, "trial": line.trial}
    subjects = [(how, name) for how, name in given.items() if name is not None]
    if len(subjects) != 1:
        raise ValueError(f"must name its trajectory by one of {', '.join(given)}, not by {len(subjects)}")
    fitting = names.get(subjects[0], set())
    found = sorted(id for id in fitting if line.dataset in {None, trials[id].dataset})
    if len(found) > 1:
        raise ValueError(f"fits {len(found)} trajectories: {', '.join(found[:3])}; say which")
    return found[0] if found else None
