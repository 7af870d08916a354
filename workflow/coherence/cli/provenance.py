"""Where every row of every table comes from: `provenance.json`."""

from collections.abc import Iterable, Mapping

from coherence.records import Entry, Judgement, Record, SourceFile


class Origin(Record, frozen=True):
    """What one trajectory's rows rest on: raw files, and for each judge its basis and stored replies."""

    trajectory: str
    root: str
    sources: tuple[SourceFile, ...]
    judges: dict[str, tuple[str, ...]]


class Provenance(Record, frozen=True):
    """Where every row of every table comes from."""

    coherence: str
    config: str
    datasets: dict[str, tuple[Origin, ...]]


def origins(entries: list[Entry], words: Mapping[str, Iterable[Judgement]]) -> tuple[Origin, ...]:
    """Return the origin of each trajectory of a dataset."""
    rests_on: dict[str, dict[str, tuple[str, ...]]] = {}
    for judge, judgements in words.items():
        for word in judgements:
            parts = tuple(part for part in (word.basis, word.reply, *word.replies) if part)
            before = rests_on.setdefault(word.trajectory, {}).get(judge, ())
            rests_on[word.trajectory][judge] = tuple(dict.fromkeys((*before, *parts)))
    return tuple(
        Origin(entry.trial.id, entry.trial.root, entry.trial.sources, rests_on.get(entry.trial.id, {}))
        for entry in entries
    )
