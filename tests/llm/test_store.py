import json
import threading
from pathlib import Path

import pytest

from coherence.llm.request import Request, store_key
from coherence.llm.store import Failure, Reply, ReplyStore

REQUEST = Request(model="m", messages=({"role": "user", "content": "h\u00e9llo"},))
KEY = store_key(REQUEST)


def reply(text: str = "yes", key: str = KEY) -> Reply:
    content = [{"type": "text", "text": text}]
    return Reply(
        key=key,
        sample=0,
        request=REQUEST,
        message={"content": content, "stop_reason": "end_turn"},
        model="m",
        stop_reason="end_turn",
        usage={"input_tokens": 3},
        request_id="req_1",
        time="2026-01-01T00:00:00+00:00",
    )


def failed(detail: str = "HTTP 500") -> Failure:
    return Failure(KEY, 0, "m", detail, "2026-01-01T00:00:00+00:00", status=500)


def test_a_reply_comes_back_as_it_was_put(tmp_path: Path) -> None:
    ReplyStore(tmp_path).put(reply())

    assert ReplyStore(tmp_path).get(KEY) == reply()


def test_a_reply_lies_in_one_readable_file_named_by_its_key(tmp_path: Path) -> None:
    ReplyStore(tmp_path).put(reply())

    content = (tmp_path / KEY[:2] / f"{KEY}.json").read_text("utf-8")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{KEY}.json"]
    assert json.loads(content)["request"]["messages"][0]["content"] == "h\u00e9llo"
    assert "h\u00e9llo" in content and content.endswith("}\n")


def test_an_unknown_key_is_absent(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)

    assert store.get(KEY) is None
    assert store.corrupt == []


def test_failures_are_kept_side_by_side_and_never_served(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    store.put_failure(failed("first"))
    store.put_failure(failed("second"))

    assert store.get(KEY) is None
    kept = [json.loads(path.read_bytes())["detail"] for path in sorted((tmp_path / KEY[:2]).iterdir())]
    assert kept == ["first", "second"]


@pytest.mark.parametrize(
    "content",
    [b"", b'{"key": "', b"[]", b"{}", b"\xff\xfe"],
    ids=["empty", "cut", "list", "no fields", "not text"],
)
def test_a_corrupt_file_counts_as_absent_is_reported_once_and_can_be_replaced(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store = ReplyStore(tmp_path)
    path = store.path(KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    assert store.get(KEY) is None
    assert store.get(KEY) is None
    assert store.corrupt == [path]
    assert [str(path) in record.message for record in caplog.records] == [True]
    store.put(reply())
    assert store.get(KEY) == reply()


def test_a_reply_filed_under_another_key_is_not_served(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    other = "f" * 64
    store.put(reply())
    store.path(other).parent.mkdir(parents=True)
    store.path(KEY).rename(store.path(other))

    assert store.get(other) is None
    assert store.corrupt == [store.path(other)]


def test_the_first_reply_stays_and_is_what_a_later_writer_gets(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    store.put(reply("first"))

    assert ReplyStore(tmp_path).put(reply("second")) == reply("first")
    assert store.get(KEY) == reply("first")


def test_concurrent_writers_agree_on_one_whole_reply_and_lose_no_failure(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    got: list[Reply] = []

    def write(number: int) -> None:
        start.wait()
        got.append(ReplyStore(tmp_path).put(reply(str(number) * 10_000)))
        ReplyStore(tmp_path).put_failure(failed(str(number)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {item.message["content"][0]["text"] for item in got} == {got[0].message["content"][0]["text"]}
    assert ReplyStore(tmp_path).get(KEY) == got[0]
    assert len(list((tmp_path / KEY[:2]).iterdir())) == 9
