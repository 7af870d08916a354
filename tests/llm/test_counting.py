from asking import request

from coherence.llm.counting import Tally, count_tokens
from coherence.llm.prices import tokens_in
from coherence.llm.request import Connection, store_key

MODEL = "claude-sonnet-4-6"
REQUESTS = [request("x" * n) for n in range(100, 150)]


def tally(most: int) -> Tally:
    made = Tally(most)
    for each in REQUESTS:
        made.add(store_key(each), each)
    return made


def test_all_that_were_counted_are_exact() -> None:
    tokens = tally(50).tokens(MODEL, [3] * 50)

    assert (tokens.value, tokens.low, tokens.high) == (150, 150, 150)


def test_a_few_that_were_counted_stand_for_all_within_their_spread() -> None:
    made = tally(20)
    tokens = made.tokens(MODEL, [50] * 20)

    assert made.chosen == sorted(REQUESTS, key=store_key)[:20]
    assert (made.requests, made.characters, made.longest) == (50, sum(range(100, 150)), 149)
    assert tokens.low < tokens.value < tokens.high
    assert tokens.high <= made.characters * 50 / 100


def test_without_counts_the_characters_tell() -> None:
    assert tally(20).tokens(MODEL, []) == tokens_in(sum(range(100, 150)), MODEL)


def test_offline_nothing_is_counted() -> None:
    assert count_tokens(REQUESTS, Connection(offline=True)) == ([], "offline")
