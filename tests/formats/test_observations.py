from typing import Any

import pytest

from coherence.formats.deviations import Deviations
from coherence.formats.observations import content_text, read_observations
from coherence.records import Call, Observation

A, B = Call("run", {"x": 1}, "a"), Call("run", {"x": 2}, "b")
THINK = Call("think", {"thought": "Hm."}, "t")
LOGGED = "Your thought has been logged."


def result(content: Any, call_id: Any = None) -> dict[str, Any]:
    return {"content": content, "source_call_id": call_id}


@pytest.mark.parametrize(
    ("results", "calls", "observations", "codes"),
    [
        ([result("1", "a"), result("2", "b")], (A, B), [("1", "a"), ("2", "b")], []),
        ([result("2", "b"), result("1", "a")], (A, B), [("2", "b"), ("1", "a")], []),
        ([result("1"), result("2")], (A, B), [("1", "a"), ("2", "b")], []),
        ([result("1"), result("2", "a")], (A, B), [("1", "b"), ("2", "a")], []),
        ([result("both")], (A, B), [("both", None)], []),
        ([result("1", "a")], (A, B), [("1", "a")], ["call_without_observation"]),
        ([], (A,), [], ["call_without_observation"]),
        ([], (Call("finish", {"message": "ok"}, "f"),), [], []),
        ([result("1", "z")], (), [("1", "z")], ["observation_of_unknown_call"]),
        ([result("1", "")], (A,), [("1", "a")], []),
        ([{"source_call_id": "a"}], (A,), [(None, "a")], []),
        ([result(None, "a")], (A,), [(None, "a")], []),
        ([result("", "a")], (A,), [("", "a")], []),
        ([result({"x": 1}, "a")], (A,), [(None, "a")], ["wrong_type"]),
        ([result("1", "a"), result("2", "a")], (A, A), [("1", "a"), ("2", "a")], ["call_id_repeated"]),
        ([result(LOGGED, "t")], (THINK,), [], []),
        ([result(LOGGED)], (THINK,), [], []),
        ([result(None, "t"), result("1", "a")], (THINK, A), [("1", "a")], []),
        ([result("too long", "t")], (THINK,), [("too long", "t")], []),
        ([result(LOGGED, "a")], (A,), [(LOGGED, "a")], []),
        ([result("the event")], (), [("the event", None)], []),
        ([result("1"), result("2")], (Call("run"), Call("run")), [("1", None), ("2", None)], []),
    ],
)
def test_results_are_paired_with_calls(
    results: list[dict[str, Any]],
    calls: tuple[Call, ...],
    observations: list[tuple[str | None, str | None]],
    codes: list[str],
) -> None:
    notes = Deviations("a.json")
    read = read_observations(results, calls, 1, notes)
    assert list(read) == [Observation(*pair) for pair in observations]
    assert [record.code for record in notes.records()] == codes


@pytest.mark.parametrize(
    ("content", "text", "codes"),
    [
        ("a", "a", []),
        (None, None, []),
        ([], "", []),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", []),
        (
            [{"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}],
            "[image: image/png images/a.png]",
            [],
        ),
        (
            [{"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}],
            "[audio: audio/wav a.wav]",
            [],
        ),
        (["plain"], "plain", []),
        ([{"type": "video"}, 5], "[part of unknown type]\n[part of unknown type]", ["content_part_unknown"]),
        ([{"type": "text", "text": 5}], "", ["wrong_type"]),
        (5, None, ["wrong_type"]),
    ],
)
def test_content_becomes_text(content: Any, text: str | None, codes: list[str]) -> None:
    notes = Deviations("a.json")
    assert content_text(content, "content", notes) == text
    assert [record.code for record in notes.records()] == codes
