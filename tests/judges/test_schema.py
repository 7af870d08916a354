import json
from typing import Any, get_args

import jsonschema
import msgspec
import pytest

from coherence.judges.schema import Reports, output_description, output_schema, read_answer, type_list
from coherence.records import Span
from coherence.vocabulary import CONFLICT_TYPES, ConflictType

SPAN: dict[str, Any] = {
    "span_id": 1,
    "start_step": 3,
    "end_step": 5,
    "acknowledgment_step": 3,
    "acknowledgment_quote": "odd",
    "action_step": 5,
    "action_quote": "ls",
    "conflict_type": "inference_vs_inference",
    "confidence": 4,
    "reasoning": "why",
}
PASSAGE: dict[str, Any] = {
    "span_id": 1,
    "start_step": 3,
    "end_step": 5,
    "first_step": 3,
    "first_quote": "odd",
    "second_step": 5,
    "second_quote": "ls",
    "issue_type": "logic",
    "confidence": 4,
    "reasoning": "why",
}


def spans_answer(*spans: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"trajectory_summary": "s", "flagged_spans": list(spans), **fields}


def rated_answer(*spans: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"trajectory_summary": "s", "coherence_rating": 2, "flagged_spans": list(spans), **fields}


def without(answer: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != name}


GOOD: dict[str, tuple[Reports, Any]] = {
    "no span": ("spans", spans_answer()),
    "one span": ("spans", spans_answer(SPAN)),
    "two spans": ("spans", spans_answer(SPAN, {**SPAN, "span_id": 2})),
    "null confidence": ("spans", spans_answer({**SPAN, "confidence": None})),
    "other": ("spans", spans_answer({**SPAN, "conflict_type": "other"})),
    "a step that cannot be": ("spans", spans_answer({**SPAN, "start_step": -1})),
    "rated, no passage": ("rating+spans", rated_answer()),
    "rated, one passage": ("rating+spans", rated_answer(PASSAGE)),
}
BAD: dict[str, tuple[Reports, Any]] = {
    "no object": ("spans", []),
    "no spans": ("spans", without(spans_answer(), "flagged_spans")),
    "no summary": ("spans", without(spans_answer(), "trajectory_summary")),
    "spans null": ("spans", spans_answer(flagged_spans=None)),
    "a rating too many": ("spans", rated_answer()),
    "a passage for a span": ("spans", spans_answer(PASSAGE)),
    "confidence 0": ("spans", spans_answer({**SPAN, "confidence": 0})),
    "confidence 6": ("spans", spans_answer({**SPAN, "confidence": 6})),
    "confidence in words": ("spans", spans_answer({**SPAN, "confidence": "high"})),
    "no confidence": ("spans", spans_answer(without(SPAN, "confidence"))),
    "invented type": ("spans", spans_answer({**SPAN, "conflict_type": "mood"})),
    "step as text": ("spans", spans_answer({**SPAN, "start_step": "3"})),
    "no step": ("spans", spans_answer({**SPAN, "action_step": None})),
    "field too many": ("spans", spans_answer({**SPAN, "severity": 3})),
    "no rating": ("rating+spans", without(rated_answer(), "coherence_rating")),
    "rating null": ("rating+spans", rated_answer(coherence_rating=None)),
    "rating 0": ("rating+spans", rated_answer(coherence_rating=0)),
    "a span for a passage": ("rating+spans", rated_answer(SPAN)),
    "a conflict type": ("rating+spans", rated_answer({**PASSAGE, "issue_type": "tool_output_vs_plan"})),
}


@pytest.mark.parametrize(("reports", "answer"), GOOD.values(), ids=GOOD)
def test_schema_and_parser_both_accept(reports: Reports, answer: Any) -> None:
    jsonschema.validate(answer, output_schema(reports), jsonschema.Draft202012Validator)
    read_answer(json.dumps(answer), reports)


@pytest.mark.parametrize(("reports", "answer"), BAD.values(), ids=BAD)
def test_schema_and_parser_both_reject(reports: Reports, answer: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, output_schema(reports), jsonschema.Draft202012Validator)
    with pytest.raises(msgspec.MsgspecError):
        read_answer(json.dumps(answer), reports)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No spans.",
        json.dumps(spans_answer()) + json.dumps(spans_answer(SPAN)),
        json.dumps(spans_answer(SPAN))[:-20],
        json.dumps(spans_answer({**SPAN, "confidence": float("nan")})),
        json.dumps(spans_answer({**SPAN, "start_step": 10**30})),
    ],
    ids=["empty", "prose", "two answers", "cut", "NaN", "huge number"],
)
def test_what_is_not_one_fitting_json_object_is_rejected(text: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        read_answer(text, "spans")


def test_a_span_is_read_field_by_field() -> None:
    answer = read_answer(json.dumps(spans_answer(SPAN)), "spans")

    assert (answer.summary, answer.rating) == ("s", None)
    assert answer.spans == (Span(1, 3, 5, 3, "odd", 5, "ls", "inference_vs_inference", 4, "why"),)


def test_a_passage_is_read_as_a_span_of_no_conflict_type() -> None:
    answer = read_answer(json.dumps(rated_answer(PASSAGE)), "rating+spans")

    assert answer.rating == 2
    assert answer.spans == (Span(1, 3, 5, 3, "odd", 5, "ls", "other", 4, "why"),)


def test_spans_with_one_number_are_numbered_anew() -> None:
    answer = read_answer(json.dumps(spans_answer({**SPAN, "span_id": 7}, {**SPAN, "span_id": 7})), "spans")

    assert [span.span_id for span in answer.spans] == [1, 2]


def test_schema_list_and_parser_know_exactly_the_vocabulary() -> None:
    names = list(CONFLICT_TYPES)

    assert set(names) == set(get_args(ConflictType))
    items = output_schema("spans")["properties"]["flagged_spans"]["items"]
    assert items["properties"]["conflict_type"]["enum"] == names
    assert [line.split("`")[1] for line in type_list("spans").splitlines()] == names


def test_the_untyped_shape_is_that_of_spans_without_their_type() -> None:
    typed, untyped = (
        output_schema(reports)["properties"]["flagged_spans"]["items"]["properties"]
        for reports in ("spans", "untyped spans")
    )
    assert untyped == {name: value for name, value in typed.items() if name != "conflict_type"}


def test_both_shapes_are_one_but_for_names_and_the_rating() -> None:
    both: tuple[Reports, ...] = ("spans", "rating+spans")
    shapes = [output_schema(reports) for reports in both]
    heads = [[name for name in shape["properties"] if name != "coherence_rating"] for shape in shapes]
    items = [shape["properties"]["flagged_spans"]["items"]["properties"].values() for shape in shapes]
    kinds = [[(item.get("type"), "anyOf" in item) for item in shape] for shape in items]

    assert heads[0] == heads[1]
    assert kinds[0] == kinds[1]


def keywords(node: Any) -> set[str]:
    if isinstance(node, dict):
        inside = node.get("properties", {}).values() if "properties" in node else node.values()
        return set(node) | set().union(*map(keywords, inside))
    return set().union(*map(keywords, node)) if isinstance(node, list) else set()


@pytest.mark.parametrize("reports", get_args(Reports))
def test_the_schema_uses_only_what_structured_output_takes(reports: Reports) -> None:
    allowed = {
        "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description",
    }  # fmt: skip

    assert keywords(output_schema(reports)) <= allowed


@pytest.mark.parametrize("reports", get_args(Reports))
def test_the_description_names_every_field_of_the_schema_once(reports: Reports) -> None:
    schema = output_schema(reports)
    fields = [*schema["properties"], *schema["properties"]["flagged_spans"]["items"]["properties"]]
    named = [line.split("`")[1] for line in output_description(reports).splitlines()]

    assert sorted(named) == sorted(fields)
