"""Transcripts with thoughts to rewrite: two thoughts a step, blank ones, and everything beside them."""

from coherence.records import Call, Judgement, Observation, QuoteCheck, Span, Step, Thought, Transcript
from coherence.vocabulary import ConflictType

FIRST = "But the log says 3 rows and config.toml has 8."
SECOND = "I keep POOL=8."


def transcript(*texts: str, id: str = "t1") -> Transcript:
    """Steps 1 (user), then one a thought from 2 on, each with a call and what came back."""
    acting = (
        Step(
            number=number,
            source="agent",
            message=f"m{number}",
            thoughts=(Thought(text, "reasoning"),),
            calls=(Call("bash", {"command": f"ls {number}", "deep": {"a": [1, None]}}, f"c{number}"),),
            observations=(Observation("a\x00b", f"c{number}"), Observation(None)),
        )
        for number, text in enumerate(texts, 2)
    )
    return Transcript(id, (Step(1, "user", "Do it."), *acting), 1, 2, 3)


def two_in_a_step() -> Transcript:
    """A step with two thoughts and a blank one between them."""
    thoughts = (Thought(FIRST, "think_call"), Thought(" \n", "reasoning"), Thought(SECOND, "scaffold"))
    return Transcript("t1", (Step(1, "user", "Do it."), Step(4, "agent", thoughts=thoughts)))


def span(
    kind: ConflictType = "other", confidence: int | None = 3, number: int = 1, flags: bool = True
) -> Span:
    check = QuoteCheck("exact", 2, "thought", 0, 0, 3)
    return Span(number, 2, 2, 2, "But", 2, "ls 2", kind, confidence, acknowledgment_check=check, flags=flags)


def flagged(trajectory: str, *spans: Span, judge: str = "detector", sample: int = 0) -> Judgement:
    return Judgement(trajectory, judge, "recorded", "flagged", spans=spans, sample=sample)


def unflagged(trajectory: str, judge: str = "detector") -> Judgement:
    return Judgement(trajectory, judge, "recorded", "unflagged")


def unjudged(trajectory: str, reason: str, judge: str = "detector") -> Judgement:
    return Judgement(trajectory, judge, "recorded", "unjudged", reason=reason)
