import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence import formats
from coherence.formats import Source
from coherence.judges.frame import call_text, framed, step_texts
from coherence.judges.llm import LlmJudge, LlmSettings
from coherence.judges.masking import MASK, masked
from coherence.preprocess import PreprocessSettings, preprocess
from coherence.records import Call, Judgement, Observation, Step, Thought, Transcript
from messages_server import CUE, only_this_key, serving
from messages_server import message as reply

KEY = "ghp_" + "aQ7xkLmN92vBcD3fGhJ5kPqRsTuVwX1yZ0Ab"
PASSWORD = "tr0ub4dor&3xQ9z"
PROMPT = Path(__file__).parents[2] / "config" / "prompts" / "detector.md"


def run(**fields: Any) -> Transcript:
    return Transcript("t", (Step(4, "agent", **fields),))


def texts(transcript: Transcript) -> list[str]:
    return [text for step in transcript.steps for _, _, text in step_texts(step)]


@pytest.mark.parametrize(
    "fields",
    [
        {"message": f"It is {KEY}."},
        {"thoughts": (Thought(f"It is {KEY}.", "reasoning"),)},
        {"observations": (Observation("ok"), Observation(f"+ echo {KEY}", "c1"))},
        {"calls": (Call("bash", {"command": f"curl -H 'X: {KEY}'"}, "c1"),)},
        {"calls": (Call("bash", {"a": [1, None, {"b": [f'say "{KEY}"\n\\ end']}]}),)},
        {"calls": (Call(KEY, {KEY: 1}),)},
    ],
    ids=["message", "thought", "observation", "call", "deep inside a call", "names in a call"],
)
def test_every_field_is_masked_and_keeps_its_length(fields: dict[str, Any]) -> None:
    transcript = run(**fields)
    hidden = masked(transcript)

    assert KEY not in framed(hidden.transcript)
    assert set(hidden.counts) == {"github-pat"}
    for before, after in zip(texts(transcript), texts(hidden.transcript), strict=True):
        assert len(after) == len(before)
        assert {new for old, new in zip(before, after, strict=True) if new != old} <= {MASK}
        assert after == before.replace(KEY, MASK * len(KEY))


def test_a_value_is_known_by_the_name_of_its_argument() -> None:
    call = Call("login", {"user": "tr0ub4dor2x", "password": PASSWORD})

    assert masked(run(calls=(call,))).transcript.steps[0].calls[0].arguments == {
        "user": "tr0ub4dor2x",
        "password": MASK * len(PASSWORD),
    }


def test_what_was_found_once_is_masked_everywhere() -> None:
    hidden = masked(run(message=f"password: {PASSWORD}1234", observations=(Observation(f"{PASSWORD}1234"),)))

    assert hidden.transcript.steps[0].observations == (Observation(MASK * 19),)
    assert (hidden.counts, hidden.total) == ({"named-value": 1, "repeated": 1}, 2)


def test_characters_that_json_escapes_stay_so_that_the_call_keeps_its_length() -> None:
    call = Call("w", {"pem": "-----BEGIN PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq1\n" * 3})
    after = masked(run(calls=(call,))).transcript.steps[0].calls[0]

    assert after.arguments["pem"] == "-----BEGIN PRIVATE KEY-----\n" + (MASK * 20 + "\n") * 3
    assert len(call_text(after)) == len(call_text(call))


def test_without_a_secret_nothing_changes() -> None:
    transcript = run(
        message="commit 9fceb02a0f8b2b5f8b7d6c5e4f3a2b1c0d9e8f7a", observations=(Observation(None),)
    )

    assert masked(transcript).transcript is transcript
    assert masked(transcript).counts == {}


PIECES = st.sampled_from(
    [KEY, f"password={PASSWORD}", "token: ", '"', "\\", "\\n", "\n", "é", "\u2588", "\ud800", "\x00", "://a:bcd@e",
     "-----BEGIN PRIVATE KEY-----\n", "MIIEpAIBAAKCAQEA7bq1\n", "-----END PRIVATE KEY-----", "x", " "]
)  # fmt: skip
TEXT = st.lists(PIECES | st.text(st.characters(), max_size=5), max_size=12).map("".join)
ARGUMENTS = st.dictionaries(st.text("ab", max_size=2), TEXT | st.lists(TEXT, max_size=2), max_size=3)


@given(TEXT, TEXT, ARGUMENTS)
@settings(max_examples=150, deadline=None)
def test_offsets_stay_and_masking_twice_is_masking_once(
    message: str, seen: str, given: dict[str, Any]
) -> None:
    transcript = run(message=message, observations=(Observation(seen),), calls=(Call("c", given),))
    hidden = masked(transcript).transcript

    assert list(map(len, texts(hidden))) == list(map(len, texts(transcript)))
    assert KEY not in framed(hidden)
    assert masked(transcript).transcript == hidden
    assert masked(hidden).transcript == hidden


# What the llm judge sends and believes.


def judged(tmp_path: Path, url: str, transcript: Transcript, **fields: Any) -> Judgement:
    (found,) = LlmJudge("j", LlmSettings(str(PROMPT), base_url=url, **fields), tmp_path).judge([transcript])
    return found


def test_no_secret_reaches_the_wire_or_the_store_and_quotes_stand_at_their_old_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    call = Call("bash", {"command": f"curl -H 'X: {KEY}'", "env": {"password": PASSWORD}})
    thought = f"The key {KEY} fails, {CUE}."
    transcript = run(thoughts=(Thought(thought, "reasoning"),), calls=(call,))
    with serving() as server:
        found = judged(tmp_path / "replies", server.url, transcript)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "replies").rglob("*.json"))

    assert KEY.encode() not in server.received[0].data + stored
    assert PASSWORD.encode() not in server.received[0].data + stored
    assert (found.state, found.masked) == ("flagged", 3)
    (span,) = found.spans
    assert (span.acknowledgment_check.verdict, span.action_check.verdict) == ("exact", "exact")
    assert span.acknowledgment_quote == thought.replace(KEY, MASK * len(KEY))
    assert (span.action_check.start, span.action_check.end) == (0, len(call_text(call)))


def test_a_copy_with_another_number_of_masks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    transcript = run(thoughts=(Thought(f"Key {KEY} fails, {CUE}.", "reasoning"),), calls=(Call("go"),))
    with serving() as server:
        first = judged(tmp_path, server.url, transcript).spans[0]
        short = first.acknowledgment_quote.replace(MASK * len(KEY), MASK * 7)
        spans = [{**msgspec.to_builtins(first), "acknowledgment_quote": short}]
        keep: tuple[str, ...] = (
            "span_id",
            "start_step",
            "end_step",
            "acknowledgment_step",
            "acknowledgment_quote",
        )
        keep += ("action_step", "action_quote", "conflict_type")
        answer = [
            {**{name: span[name] for name in keep}, "confidence": 3, "reasoning": "r"} for span in spans
        ]
        server.script.append(reply(json.dumps({"trajectory_summary": "s", "flagged_spans": answer})))
        (span,) = judged(tmp_path, server.url, transcript, max_tokens=99).spans

    assert span.acknowledgment_check.verdict == "normalised"
    assert (span.acknowledgment_check.start, span.acknowledgment_check.end) == (
        0,
        len(first.acknowledgment_quote),
    )


def test_masked_keys_take_each_other_s_place_in_no_call() -> None:
    arguments = {"ghp_" + str(n) + KEY[5:]: n for n in range(3)}
    (call,) = masked(run(calls=(Call("b", arguments),))).transcript.steps[0].calls

    assert sorted(call.arguments.values()) == [0, 1, 2]
    assert not any(key[5:] in call_text(call) for key in arguments)
    assert len(call_text(call)) == len(call_text(Call("b", arguments)))


def test_offsets_stay_where_a_masked_key_would_sort_elsewhere() -> None:
    inner = {"a": 1, KEY: 2, "z": [{KEY: 3, "zz": 4, "b": 5}]}
    call = Call("b", {"zeta": "last", KEY: inner, "alpha": "first"})
    (hidden,) = masked(run(calls=(call,))).transcript.steps[0].calls

    assert call_text(hidden) == call_text(call).replace(KEY, MASK * len(KEY))


def test_masking_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as server:
        found = judged(tmp_path, server.url, run(thoughts=(Thought(KEY, "reasoning"),)), mask_secrets=False)

    assert KEY.encode() in server.received[0].data
    assert found.masked == 0


def test_what_is_not_sent_is_not_counted(tmp_path: Path) -> None:
    assert judged(tmp_path, "http://127.0.0.1:9", run(message=KEY)).masked == 0


@pytest.mark.parametrize(("name", "folder"), [("harbor", "harbor"), ("mini-swe-agent", "mini_swe_agent")])
def test_of_real_runs_next_to_nothing_is_masked(shared: Path, name: str, folder: str) -> None:
    root = shared / "corpora" / folder
    reader = formats.load(name)
    characters = hidden = 0
    for unit in list(reader.discover(root))[::4]:
        for reading in reader.read(root, unit, Source("d", str(root))):
            if reading.trajectory is not None:
                transcript = preprocess(reading.trajectory, PreprocessSettings())
                characters += sum(map(len, texts(transcript)))
                hidden += sum(text.count(MASK) for text in texts(masked(transcript).transcript))
                hidden -= sum(text.count(MASK) for text in texts(transcript))

    assert characters > 300_000
    assert hidden / characters < 1e-3
