import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import AT_ONCE, answers, request

from coherence.errors import BudgetError, InputError
from coherence.llm.account import Account
from coherence.llm.client import Answer, Ask, Client
from coherence.llm.ledger import Charge, Ledger, read_ledger, usage_of
from coherence.llm.models import Prices, Usage, dollars, model_of
from coherence.llm.request import Connection, Request
from coherence.llm.store import Reply, ReplyStore
from messages_server import MessagesServer, Response, failure, message, only_this_key, serving


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        yield running


def charge(attempt: str, status: str = "ok", dollars: float | None = 0.25, **fields: Any) -> Charge:
    return Charge("t", "data/judge", "m", 0, "k", attempt, status, dollars=dollars, **fields)


@pytest.mark.parametrize(
    ("usage", "batch", "expected"),
    [
        (Usage(input=1_000_000), False, 3.0),
        (Usage(output=1_000_000), False, 15.0),
        (Usage(input=1_000_000, output=1_000_000), True, 9.0),
        (Usage(cache_read=1_000_000), False, 0.3),
        (Usage(cache_write=1_000_000), False, 3.75),
        (Usage(cache_write=1_000_000, cache_write_1h=1_000_000), False, 6.0),
    ],
)
def test_prices(usage: Usage, batch: bool, expected: float) -> None:
    prices = model_of("claude-sonnet-4-6").prices
    assert prices is not None
    assert dollars(usage, prices, batch) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["claude-sonnet-5-5", "a-model-nobody-lists"])
def test_a_model_without_a_listed_price_has_none(name: str) -> None:
    assert model_of(name).prices is None


def test_usage_as_the_api_reports_it() -> None:
    reported = {
        "input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_1h_input_tokens": 4, "ephemeral_5m_input_tokens": 5}, "service": "x",
    }  # fmt: skip
    assert usage_of(reported) == Usage(5, 2, 7, 9, 4)
    assert usage_of({"input_tokens": None, "output_tokens": "3", "cache_creation": []}) == Usage()


def test_a_row_comes_back_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        charge("1", input=3, output=2, cache_read=0, cache_write=5, reserved=1.5),
        charge("2", 'HTTP 529: "busy", wait', None, batch=True),
    ]
    for row in rows:
        Ledger(tmp_path / "ledger.csv").add(row)

    assert read_ledger(tmp_path / "ledger.csv") == rows
    assert read_ledger(tmp_path / "none.csv") == []


def test_processes_that_write_at_once_lose_no_row(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    code = f"""
import sys
from pathlib import Path
from coherence.llm.ledger import Charge, Ledger
for n in range(100):
    row = Charge("t", "d/j", "m", 0, "k", f"{{sys.argv[1]}}-{{n}}", "ok", dollars=0.5)
    Ledger(Path({str(path)!r})).add(row)
"""
    jobs = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(3)]
    assert [job.wait() for job in jobs] == [0, 0, 0]

    assert len(read_ledger(path)) == 300
    assert path.read_text().count("attempt") == 1
    assert Ledger(path).spent() == 150.0


def test_the_end_of_a_call_takes_the_place_of_what_it_reserved(tmp_path: Path) -> None:
    here, elsewhere = (Ledger(tmp_path / "ledger.csv") for _ in range(2))
    assert here.reserve(charge("1", "begun", None, reserved=0.6), budget=1.0)
    assert not elsewhere.reserve(charge("2", "begun", None, reserved=0.6), budget=1.0)
    here.add(charge("1", dollars=0.1, reserved=0.6))

    assert elsewhere.reserve(charge("3", "begun", None, reserved=0.6), budget=1.0)
    assert elsewhere.spent() == pytest.approx(0.7)
    assert [row.status for row in read_ledger(tmp_path / "ledger.csv")] == ["ok", "begun"]


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([("b", "begun"), ("b/1", "ok")], [("b/1", "ok")]),
        (
            [("b", "begun"), ("b/1", "expired"), ("b", "begun"), ("b/2", "ok")],
            [("b/1", "expired"), ("b/2", "ok")],
        ),
        ([("b/1", "ok"), ("b/1", "ok")], [("b/1", "ok")]),
        ([("b", "begun"), ("b/1", "ok"), ("b", "begun"), ("b/1", "ok")], [("b/1", "ok")]),
        ([("b/1", "ok"), ("b", "begun")], [("b/1", "ok"), ("b", "begun")]),
        ([("b", "begun"), ("b", "refused"), ("b/1", "ok")], [("b", "refused"), ("b/1", "ok")]),
        ([("b", "ok"), ("b", "ok")], [("b", "ok")]),
    ],
    ids=[
        "one",
        "two batches",
        "read twice",
        "read twice, reserved",
        "asked again",
        "refused",
        "as it was written",
    ],
)
def test_results_of_two_batches_are_two_charges_and_one_read_twice_is_one(
    tmp_path: Path, rows: list[tuple[str, str]], kept: list[tuple[str, str]]
) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    for attempt, status in rows:
        ledger.add(charge(attempt, status, None if status == "begun" else 0.25, batch=status != "begun"))

    found = read_ledger(ledger.path)
    assert [(row.attempt, row.status) for row in found] == kept
    assert rows[-1][0] == "b" or ledger.spent() == sum(row.counted for row in found)


@pytest.mark.parametrize("cut", ["a,b", "t,d/j,m,none,k,1,ok,,,,,0.1,,false"])
def test_a_row_that_is_none_is_named(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "ledger.csv"
    Ledger(path).add(charge("1"))
    with path.open("a") as file:
        file.write(cut)  # no newline: the next row must not be lost with it
    Ledger(path).add(charge("2"))

    assert path.read_text().splitlines()[-1].split(",")[5] == "2"
    with pytest.raises(InputError, match=r"ledger\.csv: row 3"):
        read_ledger(path)


def test_every_call_has_a_row_and_a_stored_reply_none(served: MessagesServer, tmp_path: Path) -> None:
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 5000}
    served.script.extend([failure(529, "overloaded_error", "busy", **AT_ONCE), message("ok", usage=usage)])
    account = Account(tmp_path / "ledger.csv", "data/judge")
    answers(tmp_path / "replies", [request()], served.url, account)
    answers(tmp_path / "replies", [request()], served.url, account)

    failed, answered = read_ledger(tmp_path / "ledger.csv")
    assert (failed.status, failed.dollars, failed.input) == ("HTTP 529 overloaded_error: busy", 0.0, 0)
    assert (answered.status, answered.label, answered.model) == ("ok", "data/judge", "claude-sonnet-4-6")
    assert (answered.input, answered.output, answered.cache_read, answered.cache_write) == (
        1000,
        100,
        5000,
        0,
    )
    assert answered.dollars == pytest.approx(0.003 + 0.0015 + 0.0015)


def test_an_unpriced_model_works_and_its_cost_is_unknown(served: MessagesServer, tmp_path: Path) -> None:
    served.script.append(message("ok"))
    asked = Request("claude-sonnet-5-5", ({"role": "user", "content": "hi"},))
    answers(tmp_path / "replies", [asked], served.url, Account(tmp_path / "ledger.csv", "d/j"))

    (row,) = read_ledger(tmp_path / "ledger.csv")
    assert (row.input, row.dollars) == (100, None)


def asked_within(
    folder: Path, served: MessagesServer, budget: float, n: int = 10, **fields: Any
) -> tuple[int, str]:
    """The number of replies stored and the error's text."""
    account = Account(folder / "ledger.csv", "d/j", budget, **fields)
    try:
        answers(folder / "replies", [request(str(k), max_tokens=1000) for k in range(n)], served.url, account)
    except BudgetError as error:
        return len(list((folder / "replies").rglob("*.json"))), str(error)
    return n, ""


def test_no_call_is_made_that_could_exceed_the_budget(served: MessagesServer, tmp_path: Path) -> None:
    """A call costs $0.006 and may cost $0.0151: $0.04 are enough for five (0.03), six might need 0.0451."""
    served.delay = 0.02
    served.script.extend(message("ok", usage={"input_tokens": 0, "output_tokens": 400}) for _ in range(20))
    kept, said = asked_within(tmp_path, served, 0.04)

    assert (kept, len(served.received)) == (5, 5)
    assert "$0.0300 already" in said and "5 requests" in said and "Raise `budget_usd`" in said
    assert Ledger(tmp_path / "ledger.csv").spent() == pytest.approx(0.03)


def test_the_ledger_of_earlier_runs_counts_and_a_higher_budget_goes_on(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.script.extend(message("ok", usage={"input_tokens": 0, "output_tokens": 400}) for _ in range(20))
    asked_within(tmp_path, served, 0.04)
    assert asked_within(tmp_path, served, 0.04)[0] == 5
    assert len(served.received) == 5

    assert asked_within(tmp_path, served, 1.0) == (10, "")
    assert len(served.received) == 10


def test_a_call_cut_off_goes_on_counting_at_its_most(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    ledger.reserve(charge("1", "begun", None, reserved=0.6), budget=1.0)

    assert Ledger(tmp_path / "ledger.csv").spent() == 0.6


def test_an_interrupted_call_is_abandoned_at_unknown_cost(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "handle_error", lambda *_: None)

    async def work(item: Request, ask: Ask) -> Answer:
        return await ask(item, 0)

    served.delay = 0.05
    served.script.extend(message("ok") for _ in range(9))
    account = Account(tmp_path / "ledger.csv", "d/j", budget=10.0)
    connection = Connection(base_url=served.url, concurrency=2, stop_seconds=0)
    client = Client(ReplyStore(tmp_path / "replies"), connection, account)
    results = client.each([request(str(n), max_tokens=100) for n in range(9)], work)
    next(results)
    results.close()  # type: ignore[attr-defined]

    rows = read_ledger(tmp_path / "ledger.csv")
    cut = [row for row in rows if row.status == "abandoned"]
    assert cut and all(row.dollars is None and row.counted > 0.0015 for row in cut)
    assert {row.status for row in rows} == {"ok", "abandoned"}


def test_an_account_serves_one_run_after_another(served: MessagesServer, tmp_path: Path) -> None:
    served.script.extend(message("ok") for _ in range(8))
    account = Account(tmp_path / "ledger.csv", "d/j", budget=0.006)
    for run in range(2):
        texts = [f"{run}-{n}" for n in range(4)]
        answers(tmp_path / "r", [request(text, max_tokens=100) for text in texts], served.url, account)

    assert len(read_ledger(tmp_path / "ledger.csv")) == 8


def test_a_budget_needs_prices(served: MessagesServer, tmp_path: Path) -> None:
    served.script.extend(message("ok") for _ in range(2))
    own = Prices(input=0.0, output=0.0)
    asked = [Request("my-own", ({"role": "user", "content": "hi"},), max_tokens=5)]
    with pytest.raises(BudgetError, match=r"no price is known for my-own.*`prices`"):
        answers(tmp_path, asked, served.url, Account(tmp_path / "l.csv", "d/j", 1.0))
    assert served.received == []

    (answer,) = answers(tmp_path, asked, served.url, Account(tmp_path / "l.csv", "d/j", 1.0, own))
    assert isinstance(answer, Reply)


def test_a_call_lost_after_it_was_sent_goes_on_counting_at_its_most(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.script.append(Response(b"", wire="hang"))
    account = Account(tmp_path / "ledger.csv", "d/j", budget=1.0)
    answers(tmp_path / "r", [request()], served.url, account, timeout_seconds=0.2, max_retries=0)
    answers(tmp_path / "r", [request("b")], "http://127.0.0.1:9", account, max_retries=0)

    lost, unsent = read_ledger(tmp_path / "ledger.csv")
    assert (lost.dollars, lost.counted) == (None, lost.reserved)
    assert unsent.dollars == unsent.counted == 0.0


def test_a_ledger_that_cannot_be_written_loses_no_reply(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError("the disk is full")

    served.script.append(message("paid"))
    monkeypatch.setattr(Ledger, "add", full)
    with pytest.raises(OSError, match="full"):
        answers(tmp_path / "r", [request()], served.url, Account(tmp_path / "ledger.csv", "d/j"))

    assert len(list(ReplyStore(tmp_path / "r").replies())) == 1
