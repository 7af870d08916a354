import pytest

from coherence.errors import PromptError
from coherence.judges.prompt_parts import ablated, parts_of

BODY = """\
# All

Head.

## One: a note

First.

### Inner 1: x

In one.

```
# no heading
```

### Inner 2

In two.

## Two

Second.
"""


def test_a_part_is_named_up_to_the_colon_and_holds_what_is_below_it() -> None:
    names = [part.name for part in parts_of(BODY)]
    inner = next(part for part in parts_of(BODY) if part.name == "Inner 1")
    assert names == ["All", "One", "Inner 1", "Inner 2", "Two"]
    assert "# no heading" in "".join(BODY.splitlines(keepends=True)[inner.start : inner.end])


@pytest.mark.parametrize(
    ("drop", "replace", "gone", "left"),
    [
        (["Two"], {}, ["Two", "Second."], ["Head.", "First.", "In two."]),
        (["One"], {}, ["First.", "In one.", "no heading", "In two."], ["Head.", "Second."]),
        (["Inner 1"], {}, ["In one.", "no heading"], ["First.", "In two.", "Second."]),
        (["One", "Inner 1"], {}, ["First.", "In one."], ["Head.", "Second."]),
        ([], {"Inner 2": "### New\n\nFresh."}, ["In two."], ["Fresh.\n\n## Two", "In one."]),
        (["Inner 1"], {"Two": "Last."}, ["In one.", "## Two"], ["In two.", "Last."]),
        (["One"], {"Inner 2": "Fresh."}, ["In two.", "Fresh."], ["Second."]),
    ],
    ids=["last", "whole", "inner", "inner of a dropped one", "replaced", "both", "replaced in a dropped one"],
)
def test_what_is_named_goes_and_the_rest_stays_as_it_is(
    drop: list[str], replace: dict[str, str], gone: list[str], left: list[str]
) -> None:
    text = ablated(BODY, drop, replace)
    assert [word for word in gone if word in text] == []
    assert [word for word in left if word not in text] == []


def test_nothing_named_changes_nothing() -> None:
    assert ablated(BODY, [], {}) == BODY


@pytest.mark.parametrize(
    ("body", "drop", "said"),
    [
        (BODY, ["Three"], "'Three' is not there; the parts are All, One, Inner 1, Inner 2, Two"),
        ("No heading.", ["One"], "the parts are none"),
        (BODY + "## Two\n", ["Two"], "is not the only one of its name"),
        (BODY, ["Two", "Two"], "named twice"),
    ],
    ids=["unknown", "no parts", "ambiguous", "twice"],
)
def test_a_name_that_fits_no_single_part_is_refused(body: str, drop: list[str], said: str) -> None:
    with pytest.raises(PromptError, match=said):
        ablated(body, drop, {})
