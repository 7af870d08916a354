"""A dataset's intermediates read back from its shards."""

from collections.abc import Iterator
from functools import cached_property

from coherence.cli.config import Config
from coherence.cli.features import Measured
from coherence.cli.ingest import FileReport
from coherence.cli.layout import ON_PREFIXES, Layout
from coherence.errors import InputError
from coherence.evaluation.attrition import exclusions
from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.table import Row, build_rows
from coherence.files import read_json, read_lines
from coherence.preprocess import Prepared
from coherence.records import Entry, Judgement, PrefixJudgement, VerifierTests


class Loaded:
    """What the stages made of one dataset, read when asked for."""

    def __init__(self, config: Config, name: str) -> None:
        self.config = config
        self.name = name
        self.layout = Layout(config)
        self.shards = range(config.datasets[name].shards)
        self.simulated = config.datasets[name].simulated

    @cached_property
    def entries(self) -> list[Entry]:
        """Return the index, ordered by dataset path and key."""
        found = (e for k in self.shards for e in read_lines(self.layout.shard(self.name, "index", k), Entry))
        roots = self.config.datasets[self.name].roots
        return sorted(
            found, key=lambda entry: (roots.index(entry.trial.root), entry.trial.key, entry.trial.id)
        )

    @cached_property
    def exclusions(self) -> dict[str, str]:
        """Return why each trial that a retry concerns is left out."""
        return exclusions(self.entries, self.config.datasets[self.name].retries)

    def tests(self, entry: Entry) -> VerifierTests | None:
        """Return the single tests of a trial, None where it has none; read each time, for their size."""
        if not entry.tests_digest:
            return None
        path = self.layout.tests(self.name, entry.trial.id)
        if not path.is_file():
            raise InputError(f"{path}: there is no such file; run `coherence ingest` again")
        return read_json(path, VerifierTests)

    def reports(self) -> Iterator[FileReport]:
        """Yield the lines of ingest.csv."""
        for shard in self.shards:
            yield from read_lines(self.layout.shard(self.name, "reports", shard), FileReport)

    def prepared(self) -> Iterator[Prepared]:
        """Yield the summaries of the transcripts."""
        for shard in self.shards:
            yield from read_lines(self.layout.shard(self.name, "preprocess", shard), Prepared)

    def timelines(self) -> dict[str, Timeline]:
        """Return the step numbers of each trajectory."""
        return {row.id: Timeline(row.steps, row.thought_steps) for row in self.prepared()}

    def features(self) -> dict[str, dict[str, int | float | None]]:
        """Return the features by trajectory id, those of another dataset's run of the same task with them."""
        other = self.config.datasets[self.name].features_from
        if other is None:
            return self._measured()
        lent = Loaded(self.config, other)
        found, own = lent._measured(), self._measured()
        theirs = {task: found.get(name, {}) for task, name in lent._by_task().items()}
        return {name: theirs.get(task, {}) | own.get(name, {}) for task, name in self._by_task().items()}

    def _by_task(self) -> dict[str, str]:
        """Return the id of each task's one trial; InputError where a task has several."""
        trials: dict[str, str] = {}
        for entry in self.entries:
            if trials.setdefault(entry.trial.task, entry.trial.id) != entry.trial.id:
                raise InputError(
                    f"dataset {self.name}: task {entry.trial.task!r} has several trials; `features_from` "
                    "needs one a task in both datasets"
                )
        return trials

    def _measured(self) -> dict[str, dict[str, int | float | None]]:
        return {
            row.id: row.values
            for shard in self.shards
            for row in read_lines(self.layout.shard(self.name, "features", shard), Measured)
        }

    def judgements(self, judge: str) -> Iterator[Judgement]:
        """Yield one judge's judgements, shard by shard."""
        for shard in self.shards:
            yield from read_lines(self.layout.shard(self.name, f"judge-{judge}", shard), Judgement)

    @cached_property
    def all_judgements(self) -> dict[str, list[Judgement]]:
        """Return the judgements of each of the dataset's judges."""
        return {judge: list(self.judgements(judge)) for judge in self.config.judges_of(self.name)}

    def prefix_judgements(self, judge: str) -> Iterator[PrefixJudgement]:
        """Yield one judge's judgements of prefixes, shard by shard."""
        for shard in self.shards:
            yield from read_lines(self.layout.shard(self.name, f"prefix-{judge}", shard), PrefixJudgement)

    def all_prefix_judgements(self) -> dict[str, Iterator[PrefixJudgement]]:
        """Return the judgements of prefixes, each judge's under the name it has in the ledger for them."""
        judges = self.config.prefixes_of(self.name)
        return {f"{judge}{ON_PREFIXES}": self.prefix_judgements(judge) for judge in judges}

    def rows(self) -> tuple[Row, ...]:
        """Return the table: a row a trajectory."""
        return build_rows(self.entries, self.features(), self.all_judgements, self.exclusions)
