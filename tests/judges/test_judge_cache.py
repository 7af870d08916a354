"""Where a judge's prompt cache begins, and when there is one without being asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from coherence.judges.llm import LlmJudge, LlmSettings, cache_of
from coherence.records import Call, Step, Thought, Transcript
from messages_server import MessagesServer, only_this_key, serving

PROMPT: Final = str(Path(__file__).parents[2] / "config/prompts/detector.md")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        yield running


@pytest.mark.parametrize(
    ("fields", "cache"),
    [
        ({}, "none"),
        ({"samples": 2}, "5m"),
        ({"order": "instructions_first"}, "5m"),
        ({"samples": 2, "cache": "none"}, "none"),
        ({"cache": "1h"}, "1h"),
    ],
)
def test_what_auto_means(fields: dict[str, Any], cache: str) -> None:
    assert cache_of(LlmSettings(PROMPT, **fields)) == cache


def judged(served: MessagesServer, folder: Path, **fields: Any) -> int:
    steps = (Step(1, "agent", thoughts=(Thought("Fine.", "reasoning"),), calls=(Call("bash", {}),)),)
    judge = LlmJudge("j", LlmSettings(PROMPT, base_url=served.url, **fields), folder / "replies")
    return len(list(judge.judge([Transcript("t", steps)])))


@pytest.mark.parametrize(
    ("order", "first"), [("transcript_first", "BEGIN TRANSCRIPT"), ("instructions_first", "strain")]
)
def test_what_comes_first_is_cached(served: MessagesServer, tmp_path: Path, order: str, first: str) -> None:
    assert judged(served, tmp_path, order=order, cache="1h") == 1

    cached, later = served.received[0].body["messages"][0]["content"]
    assert cached["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert first in cached["text"]
    assert "cache_control" not in later


def test_another_cache_pays_for_nothing_again(served: MessagesServer, tmp_path: Path) -> None:
    assert judged(served, tmp_path, samples=2) == 2
    assert judged(served, tmp_path, samples=2, cache="none") == 2

    assert len(served.received) == 2
