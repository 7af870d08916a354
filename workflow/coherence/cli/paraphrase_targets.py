"""What the Snakemake rules of the paraphrase stage ask: paths, inputs, and which lists do not stand."""

from collections.abc import Callable, Iterator
from pathlib import Path

from coherence.cli.config import Config, LlmJudge, RecordedJudge
from coherence.cli.layout import Layout
from coherence.cli.paraphrase_config import LlmParaphrase, RecordedParaphrase
from coherence.errors import InputError
from coherence.files import read_lines
from coherence.paraphrase.checks import Checked

FAILED_CALL = b'"reason":"api"'
TABLES = ("paraphrase", "paraphrase_pairs", "paraphrase_thoughts")


class ParaphraseTargets:
    """The paraphrases of one config; arguments may be Snakemake wildcards such as "{dataset}"."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.layout = Layout(config)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every (dataset, paraphrase) there is."""
        config = self.config
        return [(dataset, name) for dataset in config.datasets for name in config.paraphrases_of(dataset)]

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the result tables, none where nothing is rewritten."""
        return TABLES if any(self.config.judges_after(*pair) for pair in self.pairs) else ()

    def place(self, dataset: str, paraphrase: str) -> str:
        """Return what stands for the dataset's name in every path."""
        return self.layout.paraphrased(dataset, paraphrase)

    def shard(self, stage: str) -> Path:
        """Return the pattern of what a stage makes of a shard."""
        return self.layout.shard(self.place("{dataset}", "{paraphrase}"), stage, "{shard}")

    def shards(self, stage: str, dataset: str, paraphrase: str) -> list[str]:
        """Return one stage's files for all shards."""
        place, count = self.place(dataset, paraphrase), self.config.datasets[dataset].shards
        return [str(self.layout.shard(place, stage, shard)) for shard in range(count)]

    def index(self, dataset: str) -> list[str]:
        """Return the index of every shard: a sample is drawn from all, a recorded line may fit any."""
        count = self.config.datasets[dataset].shards
        return [str(self.layout.shard(dataset, "index", shard)) for shard in range(count)]

    def flags(self, dataset: str, paraphrase: str) -> str:
        """Return the judgements whose flags are chosen from."""
        return str(self.layout.judgements(dataset, self.config.paraphrases[paraphrase].of))

    def files(self, paraphrase: str) -> list[str]:
        """Return the files a paraphrase rests on: its prompt or its recorded thoughts."""
        section = self.config.paraphrases[paraphrase]
        if isinstance(section, LlmParaphrase):
            return [section.prompt]
        return [section.path] if isinstance(section, RecordedParaphrase) and section.path else []

    def verdicts(self, paraphrase: str, judge: str) -> list[str]:
        """Return the file of verdicts on rewritten text that a recorded judge repeats."""
        is_recorded = isinstance(self.config.judges[judge], RecordedJudge)
        return [self.config.paraphrases[paraphrase].verdicts[judge]] if is_recorded else []

    def thoughts(self, dataset: str = "{dataset}", paraphrase: str = "{paraphrase}") -> str:
        """Return the file of all checks."""
        return str(self.layout.dataset(self.place(dataset, paraphrase)) / "thoughts.csv")

    def judgements(
        self, dataset: str = "{dataset}", paraphrase: str = "{paraphrase}", judge: str = "{judge}"
    ) -> str:
        """Return the file of a judge's judgements of the rewritten transcripts."""
        return str(self.layout.judgements(self.place(dataset, paraphrase), judge))

    def results(self) -> list[str]:
        """Return what the tables and pages rest on."""
        chosen = [str(self.layout.chosen(*pair)) for pair in self.pairs]
        made = [
            path for pair in self.pairs for stage in self._stages(*pair) for path in self.shards(stage, *pair)
        ]
        rests = [path for _, name in self.pairs for path in self.files(name)]
        return [*chosen, *made, *dict.fromkeys(rests)]

    def targets(self) -> list[str]:
        """Return everything the stage makes."""
        joined = [
            path
            for pair in self.pairs
            for path in (
                self.thoughts(*pair),
                *(self.judgements(*pair, judge) for judge in self.config.judges_after(*pair)),
            )
        ]
        return [*self.results(), *joined] if joined else []

    def drop_incomplete(self, is_unfinished: Callable[[Path], bool]) -> None:
        """Delete the lists that do not stand: a transcript they promise is gone, or they are unfinished.

        `is_unfinished` tells whether another run could rewrite or judge what a list leaves out.
        """
        for pair in self.pairs:
            there = self.layout.transcript(self.place(*pair), "_").parent
            for path in map(Path, self.shards("rewrites", *pair)):
                if path.is_file() and (is_unfinished(path) or not _stands(path, there)):
                    path.unlink(missing_ok=True)
            for path in self._asked(*pair):
                if path.is_file() and is_unfinished(path):
                    path.unlink(missing_ok=True)

    def _stages(self, dataset: str, paraphrase: str) -> list[str]:
        judges = self.config.judges_after(dataset, paraphrase)
        return ["rewrites", *(f"judge-{judge}" for judge in judges)]

    def _asked(self, dataset: str, paraphrase: str) -> Iterator[Path]:
        """Yield the lists of judges that ask: what a recorded verdict lacks, no run can judge."""
        for judge in self.config.judges_after(dataset, paraphrase):
            if isinstance(self.config.judges[judge], LlmJudge):
                yield from map(Path, self.shards(f"judge-{judge}", dataset, paraphrase))


def _stands(path: Path, folder: Path) -> bool:
    try:
        made = [row.rewritten for row in read_lines(path, Checked)]
    except InputError:
        return False
    return all((folder / f"{one.id}.json").is_file() for one in made if one.is_whole)
