"""Rewritten thoughts read from a JSON Lines file: somebody's words, or another tool's.

A line is one thought. It names its trajectory as the lines of a recorded judge do, by `trajectory` (id),
`file` (the end of a raw file's path) or `trial` (the attempt's name), narrowed by `dataset`, and has `step`,
`index` (which thought of the step, 0 where it has one), and `text`, or in its place a `reason` why there is
none. A thought without a line is not rewritten (missing). Lines on trajectories that are not there are passed
over.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from coherence.errors import InputError
from coherence.files import digest, read_numbered_lines
from coherence.judges.recorded import names_of, trial_of
from coherence.paraphrase.rewriting import Manipulation, Place, Rewrite, Rewritten, thoughts
from coherence.records import Record, Transcript, Trial


class Line(Record, frozen=True, forbid_unknown_fields=True):
    """One line of the file."""

    step: int
    index: int = 0
    text: str | None = None
    reason: str | None = None
    detail: str = ""
    trajectory: str | None = None
    file: str | None = None
    trial: str | None = None
    dataset: str | None = None

    def __post_init__(self) -> None:
        """Refuse a line that has both a text and a reason, or neither."""
        if (self.text is None) == (self.reason is None):
            raise ValueError("needs a `text`, or a `reason` why there is none")

    def rewrite(self) -> Rewrite:
        """Return what the thought became."""
        if self.text is not None and not self.text.strip():
            return Rewrite(self.step, self.index, reason="empty")
        return Rewrite(self.step, self.index, self.text, self.reason, self.detail)


class RecordedRewriter:
    """Repeats the rewritten thoughts of a file; None for a file of which only the verdicts were kept.

    Raises InputError naming file and line for a line that cannot be read, fits several trials or repeats
    another one's place, and for a line on a place that holds no thought once the transcript is met.
    """

    def __init__(self, path: Path | None, trials: Mapping[str, Trial], manipulation: Manipulation) -> None:
        self._path = path
        self._manipulation = manipulation
        self._lines = {} if path is None else _read(path, trials)
        self._basis = "verdicts only" if path is None else f"{path.name} {digest(path.read_bytes())[:12]}"

    def rewrite(self, transcripts: Iterable[Transcript]) -> Iterator[Rewritten]:
        """Yield what is recorded of each transcript's thoughts."""
        for transcript in transcripts:
            yield Rewritten(
                transcript.id,
                self._manipulation,
                self._rewrites(transcript),
                has_text=self._path is not None,
                basis=self._basis,
            )

    def _rewrites(self, transcript: Transcript) -> tuple[Rewrite, ...]:
        if self._path is None:
            return ()
        lines = self._lines.get(transcript.id, {})
        places = [place for place, _ in thoughts(transcript)]
        strangers = sorted(lines.keys() - set(places))
        if strangers:
            number, _ = lines[strangers[0]]
            raise InputError(f"{self._path}:{number}: step {strangers[0][0]} has no such thought")
        return tuple(
            lines[place][1] if place in lines else Rewrite(*place, reason="missing") for place in places
        )


def _read(path: Path, trials: Mapping[str, Trial]) -> dict[str, dict[Place, tuple[int, Rewrite]]]:
    known = names_of(trials)
    found: dict[str, dict[Place, tuple[int, Rewrite]]] = defaultdict(dict)
    for number, line in read_numbered_lines(path, Line):
        try:
            trial = trial_of(line, known, trials)
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from error
        if trial is None:
            continue
        rewrite = line.rewrite()
        earlier, _ = found[trial].setdefault(rewrite.place, (number, rewrite))
        if earlier != number:
            raise InputError(f"{path}:{number}: line {earlier} is on the same thought")
    return found
