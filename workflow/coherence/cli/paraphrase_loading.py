"""What the paraphrase stage made of one dataset, read back from its shards."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from coherence.cli.config import Config
from coherence.cli.layout import Layout
from coherence.cli.paraphrase_config import LlmParaphrase, RecordedParaphrase, RemovedParaphrase
from coherence.files import read_lines
from coherence.paraphrase.checks import Checked
from coherence.paraphrase.choosing import Considered
from coherence.paraphrase.prompts import read_prompt
from coherence.paraphrase.rewriting import Manipulation
from coherence.records import Judgement


class LoadedParaphrase:
    """One paraphrase of one dataset, read when asked for."""

    def __init__(self, config: Config, dataset: str, name: str) -> None:
        self.config = config
        self.dataset = dataset
        self.name = name
        self.layout = Layout(config)
        self.place = self.layout.paraphrased(dataset, name)
        self.shards = range(config.datasets[dataset].shards)

    @property
    def judges(self) -> list[str]:
        """The judges of the rewritten transcripts."""
        return self.config.judges_after(self.dataset, self.name)

    @property
    def manipulation(self) -> Manipulation:
        """What was done to the thoughts."""
        section = self.config.paraphrases[self.name]
        if isinstance(section, LlmParaphrase):
            return read_prompt(Path(section.prompt)).header.manipulates
        if isinstance(section, RecordedParaphrase):
            return section.manipulation
        return "reasoning removed" if isinstance(section, RemovedParaphrase) else "cue removal"

    @property
    def how(self) -> str:
        """The manipulation and, where somebody rewrote the thoughts, who."""
        section = self.config.paraphrases[self.name]
        if isinstance(section, LlmParaphrase):
            return f"{self.manipulation} by {section.model}"
        return (
            f"recorded {self.manipulation}" if isinstance(section, RecordedParaphrase) else self.manipulation
        )

    @cached_property
    def considered(self) -> tuple[Considered, ...]:
        """Every trajectory that came up for it."""
        return tuple(read_lines(self.layout.chosen(self.dataset, self.name), Considered))

    @cached_property
    def checked(self) -> list[Checked]:
        """What became of the thoughts of each trajectory, by id."""
        rows = (
            row
            for shard in self.shards
            for row in read_lines(self.layout.shard(self.place, "rewrites", shard), Checked)
        )
        return sorted(rows, key=lambda row: row.rewritten.id)

    def before(self, judge: str) -> Iterator[Judgement]:
        """Yield a judge's judgements of the transcripts as they were."""
        return self._judgements(self.dataset, judge)

    def after(self, judge: str) -> Iterator[Judgement]:
        """Yield a judge's judgements of the rewritten transcripts."""
        return self._judgements(self.place, judge)

    def _judgements(self, place: str, judge: str) -> Iterator[Judgement]:
        for shard in self.shards:
            yield from read_lines(self.layout.shard(place, f"judge-{judge}", shard), Judgement)


def each_loaded(config: Config) -> Iterator[LoadedParaphrase]:
    """Yield every paraphrase of every dataset, paraphrases in the order of the config."""
    for name in config.paraphrases:
        for dataset in config.datasets:
            if name in config.paraphrases_of(dataset):
                yield LoadedParaphrase(config, dataset, name)


def thought_rows(checked: Iterable[Checked]) -> Iterator[dict[str, Any]]:
    """Yield the lines of thoughts.csv, one a thought."""
    for row in checked:
        for one in row.checks:
            yield {
                "trajectory": row.rewritten.id,
                **{name: getattr(one, name) for name in ("step", "index", "reason", "characters", "markers")},
                **{name: getattr(one, name) for name in ("tokens", "characters_after", "markers_after")},
                "problems": "; ".join(one.problems),
                "ratio": None if one.ratio is None else round(one.ratio, 3),
                "lost": " ".join(one.lost or ()),
                "added": " ".join(one.added or ()),
            }
