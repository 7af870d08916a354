"""Samples from a command of the user's: any scaffold that works on an item and says what came of it.

It runs once for each (item, sample), without a shell; the item is JSON on stdin. `{item}`, `{sample}` and
`{seed}` in an argument stand for the item's id and two numbers, as do the variables COHERENCE_ITEM,
COHERENCE_SAMPLE and COHERENCE_SEED. The target stays here unless `send_target` is set.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, Final, Literal

from coherence.files import digest, encode
from coherence.incoherence.stopping import Rule, stops
from coherence.llm.interrupts import terminated_as_interrupted
from coherence.llm.sending import clipped
from coherence.sampling import process, results
from coherence.sampling.command_settings import PLACEHOLDER, CommandSettings, check_allowed, command_digest
from coherence.sampling.items import Item
from coherence.sampling.runs import Claim, Run, RunStore
from coherence.sampling.samples import Reason, Sample

PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "SHELL", "TERM")
Standing = Literal["kept", "missing", "interrupted"]
LAST_WORDS: Final = 300  # characters of stderr in a reason


class CommandSampler:
    """Runs a command; every run is kept, whatever came of it, and not made twice.

    `again` names the reasons whose runs are made once more.
    """

    def __init__(self, settings: CommandSettings, runs: Path, again: Collection[Reason] = ()) -> None:
        self._settings = settings
        self._again = again
        self._store = RunStore(runs)
        self._digest = command_digest(settings)
        self._stop = Event()

    def draw(self, items: Sequence[Item], samples: int, rule: Rule | None) -> Iterator[Sample]:
        """Yield the samples of each item in order, `samples` of each, or fewer where the rule stops.

        Raises ConfigError for a command that is not declared sandboxed or approved.
        """
        check_allowed(self._settings)

        def until_stopped(item: Item) -> list[Sample]:
            drawn: list[Sample] = []
            while len(drawn) < samples and not _stopped(rule, drawn):
                drawn.append(self._sample(item, len(drawn)))
            return drawn

        if rule is None:
            pairs = ((item, number) for item in items for number in range(samples))
            yield from self._in_threads([(self._sample, pair) for pair in pairs])
            return
        for drawn in self._in_threads([(until_stopped, (item,)) for item in items]):
            yield from drawn

    def rehearse(
        self, items: Sequence[Item], samples: int, rule: Rule | None
    ) -> Iterator[tuple[str, tuple[str, ...], Standing]]:
        """Yield each item's id and command that would run at the most, and how its run stands."""
        for item in items:
            drawn: list[Sample] = []
            for number in range(samples):
                sample = self._kept(item, number)
                barred = self._store.begun(self._key(item, number)) and not self._may_repeat
                standing: Standing = "kept" if sample else "interrupted" if barred else "missing"
                yield item.id, self._arguments(item, number), standing
                drawn += [sample] if sample else []
                if len(drawn) == number + 1 and _stopped(rule, drawn):
                    break

    def _in_threads(self, tasks: list[tuple[Callable[..., Any], tuple[Any, ...]]]) -> Iterator[Any]:
        """Yield what the tasks return, in their order; an interrupt ends the commands that run."""
        with terminated_as_interrupted(), ThreadPoolExecutor(self._settings.concurrency) as pool:
            futures = [pool.submit(work, *given) for work, given in tasks]
            try:
                for future in futures:
                    yield future.result()
            except BaseException as error:
                if not isinstance(error, Exception):  # told to stop; else what runs may end in peace
                    self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _sample(self, item: Item, number: int) -> Sample:
        kept = self._kept(item, number)
        if kept is not None:
            return kept
        key = self._key(item, number)
        with self._store.claimed(key) as claim:
            if claim is None:
                return self._without(item, number, "running", "its file .begun is locked; wait, or end it")
            made_meanwhile = self._kept(item, number)
            if made_meanwhile is not None:
                self._store.forget(key)
            return made_meanwhile or self._made(item, number, claim)

    def _made(self, item: Item, number: int, claim: Claim) -> Sample:
        if claim.left_over and not self._may_repeat:
            why = "it may have acted and is not run again; `--again interrupted` does"
            return self._without(item, number, "interrupted", why)
        key = self._key(item, number)
        claim.begin()
        try:
            run = self._run(item, number, key, claim)
        except process.NotStartedError as error:
            self._store.forget(key)
            return self._without(item, number, "not_started", clipped(str(error)))
        if run is None:  # told to stop: the note that it was begun stays
            return self._without(item, number, "interrupted", "this run was told to stop")
        self._store.put(run)
        return results.sample_of(item, number, run, self._settings.pass_reward)

    def _run(self, item: Item, number: int, key: str, claim: Claim) -> Run | None:
        settings = self._settings
        ended = process.run(
            self._arguments(item, number),
            encode(self._sent(item)),
            self._environment(item, number),
            process.Limits(settings.timeout_seconds, settings.max_output_bytes),
            self._stop,
            claim.held,
        )
        if ended.limit == "stopped":
            return None
        reason, how = results.reason_of(ended.code, ended.limit)
        errors = ended.errors.decode("utf-8", "replace")
        said = f"{how}: {errors[-LAST_WORDS:]}" if errors.strip() else how
        return Run(
            key=key,
            item=item.id,
            sample=number,
            seed=self._seed(item, number),
            command=settings.run,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=ended.seconds,
            code=ended.code,
            output=ended.output.decode("utf-8", "replace"),
            errors=errors,
            reason=reason,
            detail=clipped(said) if reason else "",
        )

    @property
    def _may_repeat(self) -> bool:
        """Whether a run that was begun and not ended may be made again."""
        return self._settings.sandboxed or "interrupted" in self._again

    def _kept(self, item: Item, number: int) -> Sample | None:
        run = self._store.get(self._key(item, number))
        if run is None:
            return None
        sample = results.sample_of(item, number, run, self._settings.pass_reward)
        return None if sample.reason in self._again else sample

    def _without(self, item: Item, number: int, reason: Reason, detail: str) -> Sample:
        return Sample(item.id, number, reason, detail, seed=self._seed(item, number))

    def _key(self, item: Item, number: int) -> str:
        parts = {"item": self._sent(item), "sample": number, "seed": self._seed(item, number)}
        return digest(encode({**parts, "command": self._digest}))

    def _seed(self, item: Item, number: int) -> str:
        return item.seed or str(self._settings.seed + number)

    def _sent(self, item: Item) -> dict[str, Any]:
        target = {"target": item.target, "tolerance": item.tolerance} if self._settings.send_target else {}
        return {
            "id": item.id,
            "task": item.task,
            "prompt": item.text,
            "kind": item.kind,
            "choices": item.choices,
            "choice_order": list(item.choices),  # the object's keys are sorted
            "context": item.context,
            "data": item.data,
            **target,
        }

    def _arguments(self, item: Item, number: int) -> tuple[str, ...]:
        values = {"item": item.id, "sample": str(number), "seed": self._seed(item, number)}
        return tuple(PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in self._settings.run)

    def _environment(self, item: Item, number: int) -> dict[str, str]:
        named = (*PASSED_ON, *self._settings.environment)
        return {
            **{name: os.environ[name] for name in named if name in os.environ},
            "COHERENCE_ITEM": item.id,
            "COHERENCE_SAMPLE": str(number),
            "COHERENCE_SEED": self._seed(item, number),
        }


def _stopped(rule: Rule | None, drawn: Sequence[Sample]) -> bool:
    return rule is not None and stops(rule, [sample.identity for sample in drawn]) is not None
