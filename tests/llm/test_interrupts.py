"""Runs that are told to stop: no new request goes out, and what is under way is stored first."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from asking import answers, request

from coherence.llm import interrupts
from coherence.llm.account import ABANDONED, Account
from coherence.llm.client import Answer, Ask, Client
from coherence.llm.ledger import OK, read_ledger
from coherence.llm.request import Connection, Request
from coherence.llm.store import ReplyStore
from messages_server import MessagesServer, failure, only_this_key, serving

CONCURRENCY = 4
REQUESTS = [request(f"question {n}") for n in range(20)]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        running.delay = 0.3
        yield running


@contextmanager
def signals(server: MessagesServer, *numbers: int, pause: float = 0.2) -> Iterator[None]:
    """Send these to this process, one after another, once the server is as busy as it gets."""
    handlers = {number: signal.getsignal(number) for number in numbers}

    def send() -> None:
        while server.busy < CONCURRENCY:
            time.sleep(0.005)
        for number in numbers:
            os.kill(os.getpid(), number)
            time.sleep(pause)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        sender.join()
        assert {number: signal.getsignal(number) for number in numbers} == handlers


def told(folder: Path, server: MessagesServer, **connection: float) -> str:
    account = Account(folder / "ledger.csv", "d/j")
    with pytest.raises(KeyboardInterrupt) as stop:
        answers(folder / "replies", REQUESTS, server.url, account, concurrency=CONCURRENCY, **connection)
    return str(stop.value)


def stored(folder: Path) -> int:
    return len(list(ReplyStore(folder / "replies").replies()))


def statuses(folder: Path) -> list[str]:
    return [charge.status for charge in read_ledger(folder / "ledger.csv")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_stores_what_is_under_way_and_sends_no_more(
    served: MessagesServer, tmp_path: Path, number: int
) -> None:
    with signals(served, number):
        said = told(tmp_path, served)
    assert said == (
        "of 4 requests under way 4 were answered and are stored, 0 failed. 13 more were due and not sent, "
        "nor was any later one. Run again to ask for the rest."
    )
    assert (served.stats()["billed"], stored(tmp_path), statuses(tmp_path)) == (4, 4, [OK] * 4)

    served.delay = 0.0
    answers(tmp_path / "replies", REQUESTS, served.url)
    assert len(served.received) == len({received.digest for received in served.received}) == len(REQUESTS)


def test_two_signals_at_once_are_one_wish(served: MessagesServer, tmp_path: Path) -> None:
    with signals(served, signal.SIGTERM, signal.SIGINT, pause=0.0):
        told(tmp_path, served)
    assert (served.stats()["billed"], stored(tmp_path)) == (4, 4)


def test_a_second_signal_ends_the_wait(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "SAME_WISH", 0.0)
    served.delay = 1.0
    began = time.monotonic()
    with signals(served, signal.SIGTERM, signal.SIGTERM):
        told(tmp_path, served)
    assert time.monotonic() - began < 1.0
    assert statuses(tmp_path) == [ABANDONED] * 4


def test_what_takes_too_long_is_given_up_and_said(served: MessagesServer, tmp_path: Path) -> None:
    served.delay = 1.0
    with signals(served, signal.SIGTERM):
        said = told(tmp_path, served, stop_seconds=0.1)
    assert (
        "0 were answered and are stored, 0 failed, 4 not answered within 0.1 s, which may be billed" in said
    )
    assert statuses(tmp_path) == [ABANDONED] * 4


def test_what_fails_is_not_tried_again(served: MessagesServer, tmp_path: Path) -> None:
    overloaded = failure(529, "overloaded_error", "busy", retry_after="30")
    served.dealers.append(lambda number, _: overloaded if number % 2 else None)
    with signals(served, signal.SIGTERM):
        said = told(tmp_path, served)
    assert "of 4 requests under way 2 were answered and are stored, 2 failed." in said
    assert (len(served.received), stored(tmp_path)) == (4, 2)


def test_a_reader_that_goes_away_loses_no_reply(served: MessagesServer, tmp_path: Path) -> None:
    served.dealers.append(lambda number, _: time.sleep(0.2 * (number > 0)))

    async def work(item: Request, ask: Ask) -> Answer:
        return await ask(item, 0)

    client = Client(
        ReplyStore(tmp_path / "replies"), Connection(base_url=served.url, concurrency=CONCURRENCY)
    )
    results = client.each(REQUESTS, work)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert served.stats()["billed"] == stored(tmp_path) >= CONCURRENCY


def test_a_signal_that_was_ignored_goes_on_being_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls: list[str] = []
    try:
        with interrupts.told_to_stop(lambda: calls.append("told")):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == ["told"]
