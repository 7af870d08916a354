"""Everything in a config that asks a model: the judges, the paraphrasers, and the judges once more."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from coherence.cli.config import Config, LlmJudge
from coherence.cli.judge import llm_judge, read_transcripts
from coherence.cli.layout import ON_PREFIXES, Layout
from coherence.cli.paraphrase import chosen, llm_rewriter, transcript_of
from coherence.cli.paraphrase_config import LlmParaphrase
from coherence.cli.prefix import prefixes_to_ask
from coherence.errors import InputError
from coherence.files import read_lines
from coherence.judges import llm as judges
from coherence.llm.client import Watch
from coherence.llm.request import Connection
from coherence.llm.settings import connection_of
from coherence.paraphrase.checks import Checked
from coherence.records import Record, Transcript


class Asker(Protocol):
    """What can go through its requests without sending them."""

    def rehearse(self, transcripts: Iterable[Transcript], watch: Watch) -> None:
        """Tell `watch` of every request about the transcripts."""


class Asking(Record, frozen=True):
    """One judge or paraphraser and a dataset; `transcripts` reads what it is asked about.

    `waits` where that is known only after judges have flagged, or thoughts were rewritten.
    """

    dataset: str
    name: str
    section: LlmJudge | LlmParaphrase
    asker: Asker
    transcripts: Callable[[], Iterator[Transcript]]
    waits: bool = False

    def connection(self, offline: bool) -> Connection:
        """Return how its requests travel."""
        if isinstance(self.section, LlmJudge):
            return judges.connection_of(self.section, offline=offline)
        return connection_of(self.section, offline=offline)


def askings(config: Config, dataset: str) -> Iterator[Asking]:
    """Yield everything that asks a model about a dataset."""
    for name in config.judges_of(dataset):
        section = config.judges[name]
        if isinstance(section, LlmJudge):
            judge = llm_judge(config, name, section, dataset)
            yield Asking(dataset, name, section, judge, partial(transcripts, config, dataset))
            if name in config.prefixes_of(dataset):
                again = llm_judge(config, name, section, dataset, ON_PREFIXES)
                shown = partial(prefixes_to_ask, config, dataset, name)
                yield Asking(dataset, f"{name}{ON_PREFIXES}", section, again, shown)
    for name in config.paraphrases_of(dataset):
        yield from _paraphrased(config, dataset, name)


def _paraphrased(config: Config, dataset: str, name: str) -> Iterator[Asking]:
    section = config.paraphrases[name]
    if isinstance(section, LlmParaphrase):
        rewriter = llm_rewriter(config, dataset, name, section)
        shown = partial(to_rewrite, config, dataset, name)
        yield Asking(dataset, f"paraphrase {name}", section, rewriter, shown, waits=True)
    for judge in config.judges_after(dataset, name):
        own = config.judges[judge]
        if isinstance(own, LlmJudge):
            on = f" on {name}"
            asker = llm_judge(config, judge, own, dataset, on)
            shown = partial(rewritten, config, dataset, name)
            yield Asking(dataset, f"{judge}{on}", own, asker, shown, waits=True)


def transcripts(config: Config, dataset: str) -> Iterator[Transcript]:
    """Yield the transcripts of a dataset; raise InputError where there are none yet."""
    try:
        for shard in range(config.datasets[dataset].shards):
            for _, transcript in read_transcripts(Layout(config), dataset, shard):
                yield transcript
    except InputError as error:
        raise InputError(f"{error}. Run `coherence ingest` and `coherence preprocess` first.") from error


def to_rewrite(config: Config, dataset: str, name: str) -> Iterator[Transcript]:
    """Yield the transcripts that are chosen; raise InputError where nothing has been chosen yet."""
    try:
        ids = chosen(Layout(config), dataset, name)
    except InputError as error:
        raise InputError(f"{error}. Run `coherence paraphrase choose` first.") from error
    yield from (transcript for transcript in transcripts(config, dataset) if transcript.id in ids)


def rewritten(config: Config, dataset: str, name: str) -> Iterator[Transcript]:
    """Yield the rewritten transcripts; raise InputError where there are none yet."""
    layout = Layout(config)
    place = layout.paraphrased(dataset, name)
    try:
        for shard in range(config.datasets[dataset].shards):
            for row in read_lines(layout.shard(place, "rewrites", shard), Checked):
                if row.rewritten.is_whole:
                    yield transcript_of(layout, place, row.rewritten)[1]
    except InputError as error:
        raise InputError(f"{error}. Run `coherence paraphrase rewrite` first.") from error
