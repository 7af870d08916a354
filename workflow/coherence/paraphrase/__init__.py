"""Paraphrase: the agent's thoughts in other words, everything else of a transcript as it was.

    llm        a prompt file and a model behind the Messages API rewrite every thought (`llm.py`)
    rules      cue removal: words that mark a conflict are cut out offline (`cue_removal.py`)
    recorded   rewritten thoughts from a file (`recorded.py`)
    removed    every thought gives way to the same placeholder (`rewriting.py`)

`choosing` says which flagged trajectories are rewritten, `rewriting` puts the new thoughts in their places,
`checks` measures each against the old one. A judge then reads the transcript as it reads any other.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from coherence.paraphrase.rewriting import Rewritten
from coherence.records import Transcript


class Rewriter(Protocol):
    """Something that rewrites the thoughts of transcripts."""

    def rewrite(self, transcripts: Iterable[Transcript]) -> Iterator[Rewritten]:
        """Yield what became of each transcript's thoughts, in their order, holding few at a time.

        A thought that cannot be rewritten says why; JudgeError is for a run that cannot rewrite at all.
        """
