"""The section `paraphrases` of the config: whose flagged thoughts are rewritten, how, and who judges then."""

from collections.abc import Collection, Iterator, Mapping

from coherence.paraphrase.choosing import Choice
from coherence.paraphrase.llm import RewriterSettings
from coherence.paraphrase.rewriting import Manipulation
from coherence.records import Record


class Paraphrase(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every kind has: whose (`of`) flagged trajectories are rewritten, and the judges afterwards."""

    of: str
    judges: list[str] | None = None
    datasets: list[str] | None = None
    choice: Choice = Choice()
    verdicts: dict[str, str] = {}


class CueRemovalParaphrase(Paraphrase, frozen=True, tag_field="kind", tag="rules"):
    """Cue removal in plain code, offline."""


class RemovedParaphrase(Paraphrase, frozen=True, tag_field="kind", tag="removed"):
    """Every thought gives way to a placeholder."""


class RecordedParaphrase(Paraphrase, frozen=True, tag_field="kind", tag="recorded"):
    """Rewritten thoughts from a file, or, without `path`, only the verdicts on them."""

    path: str | None = None
    manipulation: Manipulation = "paraphrase"


class LlmParaphrase(RewriterSettings, frozen=True, kw_only=True, tag_field="kind", tag="llm"):
    """A language model behind the Messages API."""

    of: str
    judges: list[str] | None = None
    datasets: list[str] | None = None
    choice: Choice = Choice()
    verdicts: dict[str, str] = {}


ParaphraseSection = CueRemovalParaphrase | RemovedParaphrase | RecordedParaphrase | LlmParaphrase


def judges_after(section: ParaphraseSection) -> list[str]:
    """Return the judges of the rewritten transcripts: those named, else the one whose flags were chosen."""
    return section.judges if section.judges is not None else [section.of]


def faults(
    section: ParaphraseSection,
    judges: Collection[str],
    recorded: Collection[str],
    datasets: Mapping[str, bool],
) -> Iterator[tuple[str, str]]:
    """Yield (key, what is wrong); `recorded` judges cannot read, `datasets` tell where `of` has read text."""
    after = judges_after(section)
    unknown = [name for name in (section.of, *after, *section.verdicts) if name not in judges]
    if unknown:
        key = "of" if unknown[0] == section.of else "judges"
        yield key, f"no judge {unknown[0]}; known: {', '.join(judges)}"
        return
    for name in section.datasets or ():
        if name not in datasets:
            yield "datasets", f"no dataset {name}; known: {', '.join(datasets)}"
        elif not datasets[name]:
            yield "datasets", f"{name} has no text that judge {section.of} has judged"
    yield from _faulty_verdicts(section, after, recorded)


def _faulty_verdicts(
    section: ParaphraseSection, after: Collection[str], recorded: Collection[str]
) -> Iterator[tuple[str, str]]:
    for name in after:
        if name in recorded and name not in section.verdicts:
            yield (
                "verdicts",
                (
                    f"judge {name} repeats recorded verdicts; name the file with those on the rewritten text "
                    f"(`verdicts: {{{name}: FILE}}`), or other `judges`"
                ),
            )
        if name not in recorded and isinstance(section, RecordedParaphrase) and section.path is None:
            yield "path", f"judge {name} reads text, and there is no `path` with the rewritten thoughts"
    strangers = sorted(name for name in section.verdicts if name not in after or name not in recorded)
    if strangers:
        yield "verdicts", f"{strangers[0]} is not one of its judges that repeat recorded verdicts"
