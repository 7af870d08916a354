"""Judging by the command line while the server fails in every way it knows and the process is killed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_run import (
    case_name,
    is_honest,
    outcomes,
    prepare,
    run,
    run_until_done,
    start,
    stored_replies,
    write_cases,
)

from messages_faults import MIXED, STOPPING, Chance
from messages_server import MessagesServer, serving

CASES = [case_name(number) for number in range(60)]
CONCURRENCY = 12
FAULTS = Chance(0.7, 2, MIXED)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as running:
        yield running


def kill_after(requests: int, folder: Path, server: MessagesServer) -> None:
    """Start judging and kill it (kill -9) when the server has this many requests."""
    process = start(folder, "judge")
    while process.poll() is None and len(server.log) < requests:
        time.sleep(0.01)
    assert process.poll() is None, (folder / "stderr").read_text()
    process.kill()
    process.wait()
    while server.busy:
        time.sleep(0.01)


def terminate_amid_calls(folder: Path, server: MessagesServer) -> int:
    """Start judging and end it (kill -TERM) while as many calls as may be are under way; return its code."""
    process = start(folder, "judge")
    while process.poll() is None and server.busy < CONCURRENCY:
        time.sleep(0.01)
    process.terminate()
    return process.wait()


def unstored(server: MessagesServer, folder: Path) -> int:
    """How many replies were paid for and sent in full, and are not in the store."""
    counted = server.stats()
    return counted["billed"] - counted["billed_and_broken_off"] - stored_replies(folder)


def test_faults_and_a_kill_lose_nothing_and_misjudge_nothing(tmp_path: Path, server: MessagesServer) -> None:
    kinds = {case: FAULTS.kind(case) for case in CASES}
    assert set(MIXED) <= set(kinds.values())
    write_cases(tmp_path, len(CASES), base_url=server.url, concurrency=CONCURRENCY)
    prepare(tmp_path)

    server.dealers.append(FAULTS)
    server.delay = 0.02
    kill_after(30, tmp_path, server)
    at_kill = unstored(server, tmp_path)
    assert at_kill <= CONCURRENCY

    run(tmp_path, "judge")
    found = outcomes(tmp_path, CASES)
    assert {case: (kinds[case], got) for case, got in found.items() if not is_honest(got, kinds[case])} == {}
    assert unstored(server, tmp_path) == at_kill

    before = len(server.log)
    run(tmp_path, "judge")
    asked = {line["case"] for line in server.log[before:]}
    assert asked
    assert asked <= {case for case, got in found.items() if got == "unjudged(api)"}


def test_what_may_stop_a_run_loses_nothing_once_it_is_mended(tmp_path: Path, server: MessagesServer) -> None:
    cases = CASES[:12]
    faults = Chance(0.3, 20, STOPPING)
    assert {faults.kind(case) for case in cases} == {None, *STOPPING}
    write_cases(tmp_path, len(cases), base_url=server.url, concurrency=2)
    prepare(tmp_path)

    server.dealers.append(faults)
    run_until_done(tmp_path, most=6)

    assert outcomes(tmp_path, cases) == dict.fromkeys(cases, "right")
    assert unstored(server, tmp_path) == 0


def test_a_termination_loses_no_reply_and_a_resume_asks_only_for_the_rest(
    tmp_path: Path, server: MessagesServer
) -> None:
    write_cases(tmp_path, len(CASES), base_url=server.url, concurrency=CONCURRENCY)
    prepare(tmp_path)

    server.delay = 0.3
    assert terminate_amid_calls(tmp_path, server) == 130
    answered = server.stats()["billed"]
    assert CONCURRENCY <= answered < len(CASES)
    assert unstored(server, tmp_path) == 0
    told = f"interrupted; of {CONCURRENCY} requests under way {CONCURRENCY} were answered and are stored"
    assert told in (tmp_path / "stderr").read_text()

    server.delay = 0.0
    run(tmp_path, "judge")
    assert sorted(line["case"] for line in server.log) == CASES  # each once
    assert outcomes(tmp_path, CASES) == dict.fromkeys(CASES, "right")
