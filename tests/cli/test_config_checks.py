"""A config that its types allow and that cannot be meant is refused, by key, before anything runs."""

from typing import Any

import pytest

from coherence.cli.config_files import parse
from coherence.errors import ConfigError

BASE: dict[str, Any] = {
    "datasets": {"mine": {"paths": "runs.csv", "format": "table", "feature_columns": ["agent_steps"]}},
    "judges": {"rules": {"kind": "rules"}},
}


@pytest.mark.parametrize(
    ("evaluation", "said"),
    [
        (
            {"stratify_by": "think_char"},
            "evaluation.stratify_by: there is no 'think_char'; known: traj",
        ),
        ({"stratify_by": "rules"}, "evaluation.stratify_by: there is no 'rules'"),
        ({"covariates": ["lexical", "stepz"]}, "evaluation.covariates: there is no 'stepz'"),
        ({"family": ["rules", "detektor"]}, "evaluation.family: there is no 'detektor'; known: rules, "),
    ],
)
def test_a_feature_or_judge_that_no_dataset_can_have_is_refused(evaluation: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse({**BASE, "evaluation": evaluation}, "config")


def test_features_of_the_paper_of_a_table_and_of_single_markers_are_known() -> None:
    evaluation = {
        "stratify_by": "agent_steps",
        "covariates": ["trajectory_length", "marker.but"],
        "family": ["rules", "lexical", "agent_steps"],
    }
    assert parse({**BASE, "evaluation": evaluation}, "config").evaluation.stratify_by == "agent_steps"


@pytest.mark.parametrize(
    ("name", "said"),
    [("My runs", "has lower-case letters"), (".hidden", "begins with"), ("tables", "has this name")],
)
def test_a_name_that_could_be_no_folder_or_is_one_is_refused(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse({**BASE, "datasets": {name: BASE["datasets"]["mine"]}}, "config")


@pytest.mark.parametrize(
    ("name", "said"),
    [("strange", "no dataset of this name"), ("kept", "set `outcomes.kept.kind`")],
)
def test_the_kind_of_outcome_is_chosen_for_datasets(name: str, said: str) -> None:
    raw = {**BASE, "outcomes": {"kept": {"path": "kept.csv"}}}
    assert parse({**raw, "incoherence": {"kinds": {"mine": "passed"}}}, "config").incoherence.kinds
    with pytest.raises(ConfigError, match=f"incoherence.kinds.{name}: {said}"):
        parse({**raw, "incoherence": {"kinds": {name: "passed"}}}, "config")


@pytest.mark.parametrize(
    ("key", "said"),
    [("backbnoe", "did you mean 'backbone'?"), ("zzz", "('zzz' was unexpected)$")],
    ids=["near", "far"],
)
def test_a_known_key_near_an_unknown_one_is_named(key: str, said: str) -> None:
    raw = {**BASE, "datasets": {"mine": {**BASE["datasets"]["mine"], key: "m"}}}
    with pytest.raises(ConfigError, match=said.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")):
        parse(raw, "config")


def test_each_of_several_unknown_keys_has_its_own_suggestion() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'budget_usd', 'offline'\?"):
        parse({**BASE, "budget_us": 1, "ofline": True}, "config")
