import ast
from pathlib import Path

from coherence.formats.deviations import CODES, Deviations
from coherence.records import Deviation

FORMATS = Path(__file__).parents[2] / "workflow" / "coherence" / "formats"


def noted_codes() -> set[str]:
    """Every code that the package notes, found in its source."""
    found: set[str] = set()
    for path in FORMATS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            places = {"add": node.args[:1], "Deviation": node.args[1:2]}.get(name, [])
            found |= {
                part.value
                for place in places
                for part in ast.walk(place)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            }
    return found


def test_the_codes_that_are_noted_are_those_that_are_documented() -> None:
    assert noted_codes() == CODES.keys()


def test_occurrences_of_a_code_are_one_record_with_the_first_place() -> None:
    notes = Deviations("run.json")
    for detail in ("step 4", "step 7", "step 9"):
        notes.add("wrong_type", detail)
    notes.add("agent_unnamed")
    assert notes.records() == (
        Deviation("run.json", "agent_unnamed"),
        Deviation("run.json", "wrong_type", "step 4 (and 2 more)"),
    )
