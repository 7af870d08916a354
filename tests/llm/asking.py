"""Requests and how tests ask them: through a client, with its account where there is one."""

from pathlib import Path
from typing import Any

from coherence.llm.account import Account
from coherence.llm.client import Answer, Ask, Client
from coherence.llm.request import Connection, Request
from coherence.llm.store import ReplyStore

AT_ONCE = {"retry_after_ms": "1"}


def request(text: str = "hello", **fields: Any) -> Request:
    return Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": text},), **fields)


def blocks(*texts: str) -> Request:
    content = [{"type": "text", "text": text} for text in texts]
    return Request(model="claude-sonnet-4-6", messages=({"role": "user", "content": content},))


def answers(
    folder: Path, requests: list[Request], url: str, account: Account | None = None, **connection: Any
) -> list[Answer]:
    """Ask each request, the n-th of equal ones as sample n."""

    async def work(item: tuple[Request, int], ask: Ask) -> Answer:
        return await ask(*item)

    numbered = [(each, requests[:n].count(each)) for n, each in enumerate(requests)]
    client = Client(ReplyStore(folder), Connection(**{"base_url": url, **connection}), account)
    return list(client.each(numbered, work))
