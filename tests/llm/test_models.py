import pytest

from coherence.llm.models import model_file, model_of
from coherence.llm.prices import characters_of, estimate, tokens_in
from coherence.llm.request import Request

NAMES = sorted(model_file().models)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_listed_makes_sense(name: str) -> None:
    model = model_of(name)
    assert (model.input is None) == (model.output is None)
    assert model.successor is None or model.successor in NAMES
    if model.prices is not None:
        assert 0 < model.prices.cache_read < 1 < model.prices.cache_write_5m < model.prices.cache_write_1h
        assert model.prices.batch == 0.5


def test_nothing_is_known_of_a_model_that_is_not_listed() -> None:
    model = model_of("somebody-elses")
    assert (model.prices, model.context, model.sampling, model.lifecycle) == (None, None, None, None)
    assert estimate("somebody-elses", 10, 1000, 900) is None


def test_an_estimate_has_bounds_and_a_newer_tokenizer_more_tokens() -> None:
    found = estimate("claude-sonnet-4-6", 2, 7_000_000, 1000)
    assert found is not None
    assert found.dollars == pytest.approx(6.0 + 0.03)
    assert found.low < found.dollars < found.high
    assert tokens_in(350, "claude-sonnet-5").value == pytest.approx(130)


def test_the_characters_of_a_request_are_those_of_its_texts() -> None:
    content = [{"type": "text", "text": "four"}, {"type": "text", "text": "n\u00efne"}]
    asked = Request("m", ({"role": "user", "content": content},), system=({"type": "text", "text": "sys"},))
    assert characters_of(asked) == 11
