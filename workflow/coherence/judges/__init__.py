"""Judges: each reads transcripts and gives its word on every one of them.

    llm        a prompt file, a model behind the Messages API and its settings (`llm.py`)
    rules      an offline detector in plain code (`rules.py`)
    recorded   verdicts from a file: a replay, another tool's output, human labels (`recorded.py`)

All three give the same Judgement records. `frame` says what a judge reads of a transcript and which text the
offsets of a quote refer to; `quotes` finds each quote in it; `prompts` and `schema` are what `llm` asks and
how it reads the answer. `hearing` asks for one answer and again where it does not fit, with `extract` for
servers that hold a model to no schema; `windows` and `parts` divide what is too long to be read at once and
put the answers together; `flagging` says what an absent quote does to a flag.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from coherence.records import Judgement, Transcript


class Judge(Protocol):
    """Something that judges transcripts."""

    @property
    def name(self) -> str:
        """The judge's name in the config and in every table."""

    def judge(self, transcripts: Iterable[Transcript]) -> Iterator[Judgement]:
        """Yield at least one judgement a transcript, in their order, holding few transcripts at a time.

        What cannot be judged is unjudged with a reason; JudgeError is for a run that cannot judge at all.
        """
