"""Find plans of single runs that agree with every published count at once: `qwen.csv` and `gemma.csv`.

`python data/reconstruction/solve.py` (needs `pip install ".[plans]"`): seeded and on one thread, so that the
same version of the solver gives the same bytes. A run is known by its rank in characters of thought; all else
is assigned to it.
"""

import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from ortools.sat.python import cp_model

HERE = Path(__file__).resolve().parent
CHARS_PER_MARKER, CHARS_PER_THOUGHT, CHARS_PER_ACKNOWLEDGMENT = (
    45,
    70,
    110,
)  # the least the generator's sentences need
CHARS_PER_FLAG = 450  # two acknowledgments, or one that is said again three times
LEAST_FOR_TWO = 900  # characters of thought from which on there is room for that
TYPES = (
    "tool_output_vs_plan",
    "unresolved_uncertainty",
    "constraint_vs_derivation",
    "environment_vs_premise",
    "inference_vs_inference",
)
COLUMNS = (
    *("task", "job", "outcome", "has_trajectory", "seed", "example"),
    *("flagged", "confidence", "conflict_types", "first_acknowledgment", "acknowledgments", "action_step"),
    *("rating", "markers", "length", "think_calls", "think_chars", "tool_errors", "edge_case"),
    *("paraphrase_spans", "paraphrase_same_type"),
)
EDGES = (
    "plan_revised",
    "doubt_tested",
    "surprise_explained",
    "constraint_met",
    "premise_dropped",
    "markers_only",
)


class Third(NamedTuple):
    """Flagged and unflagged runs of one tertile of thought characters: (failed, n) each."""

    flagged: tuple[int, int]
    unflagged: tuple[int, int]


class Lead(NamedTuple):
    """Lead time of the flagged failures: thousandths of the run left at the median, steps left there, sum."""

    left_above: int
    left_at_most: int
    median: int
    total: int | None


class Published(NamedTuple):
    """The paper's numbers, and multisets of values drawn so that medians and means are the paper's."""

    name: str
    seed: int
    fail: int
    tables: dict[str, tuple[int, int]]  # risky: failed, n
    thirds: tuple[Third, Third, Third]
    zero_fail: int | None
    lead: Lead
    values: dict[str, list[int]]
    medians: dict[str, int]


def between(draw: random.Random, low: int, high: int, count: int, power: float = 1.0) -> list[int]:
    """Return distinct whole numbers strictly between two, more of them near the low end for a high power."""
    found: set[int] = set()
    while len(found) < count:
        found.add(low + 1 + int((high - low - 1) * draw.random() ** power))
    return sorted(found)


def qwen() -> Published:
    """Return the numbers of section 3.1, Table 1 and sections 4.1 to 4.6."""
    draw = random.Random(1)
    chars = [0] * 4 + between(draw, 150, 843, 9) + [843, 912] + between(draw, 912, 2301, 6) + [2301, 2365]
    chars += [*between(draw, 2365, 3228, 5), 3228, 3951, *between(draw, 3951, 44000, 13, 2.0), 58214]
    top = [842, 213, 118, 96, 77, 63, 58, 51, 46, 41, 37, 29, 24, 18, 12, 8]
    return Published(
        name="qwen",
        seed=7,
        fail=28,
        tables={
            "flagged": (15, 16),
            "generic": (26, 38),
            "markers": (19, 21),
            "length": (16, 21),
            "think_calls": (15, 20),
            "tool_errors": (10, 13),
        },
        thirds=(Third((0, 1), (4, 13)), Third((5, 5), (6, 10)), Third((10, 10), (3, 5))),
        zero_fail=None,
        lead=Lead(155, 165, 9, 345),
        values={
            "chars": chars,
            "markers": top + [7, 6, 5, 4, 3] + [2] * 8 + [1] * 8 + [0] * 7,
            "length": between(draw, 17, 57, 21) + [57] * 2 + between(draw, 57, 240, 21, 1.5),
            "think_calls": [0] * 4
            + [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4]
            + [5] * 7
            + [6, 6, 7, 7, 7, 8, 8, 9, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 29, 37],
            "tool_errors": [0] * 14 + [1] * 17 + [2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 9, 12],
        },
        medians={"markers": 2, "length": 57, "think_calls": 5, "tool_errors": 1},
    )


def gemma() -> Published:
    """Return the numbers of section 3.1, Table 2 and section 4.6."""
    draw = random.Random(2)
    chars = [0] * 13 + [1167] + between(draw, 1400, 5434, 7) + [5434] + between(draw, 5434, 9000, 6)
    chars += between(draw, 9200, 33000, 15, 1.6)
    top = [379, 260, 190, 150, 120, 95, 80, 62, 50, 41, 33, 27, 22, 19, 16, 14, 13, 13, 12, 12, 12]
    return Published(
        name="gemma",
        seed=7,
        fail=26,
        tables={
            "flagged": (9, 12),
            "generic": (21, 32),
            "markers": (15, 21),
            "length": (12, 21),
            "think_calls": (9, 17),
            "tool_errors": (14, 20),
        },
        thirds=(Third((1, 1), (8, 13)), Third((1, 3), (5, 11)), Third((7, 8), (4, 7))),
        zero_fail=8,
        lead=Lead(165, 175, 5, None),
        values={
            "chars": chars,
            "markers": [*top, 11, 9, 7, 6, 5, 4, 3, 2, 1] + [0] * 13,
            "length": between(draw, 11, 32, 18) + [32] * 4 + between(draw, 32, 120, 21, 1.5),
            "think_calls": [0] * 13
            + [1] * 3
            + [2] * 4
            + [3] * 6
            + [4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 14, 17, 22],
            "tool_errors": [0] * 8 + [1] * 7 + [2] * 8 + [3] * 6 + [4] * 5 + [5, 5, 6, 6, 7, 8, 8, 10, 13],
        },
        medians={"markers": 11, "length": 32, "think_calls": 3, "tool_errors": 2},
    )


class Puzzle:
    """The constraint model of one dataset; every list is by rank in characters of thought."""

    def __init__(self, published: Published) -> None:
        self.of = published
        self.model = cp_model.CpModel()
        self.chars = published.values["chars"]
        self.ranks = range(len(self.chars))
        self.fail = self.switches("fail")
        self.flagged = self.switches("flagged")
        self.generic = self.switches("generic")
        self.is_value: dict[str, list[dict[int, Any]]] = {}
        self.value = {name: self.assigned(name) for name in published.medians}
        self.left = [self.model.new_int_var(0, 200, f"left{rank}") for rank in self.ranks]
        self.model.add(sum(self.fail) == published.fail)
        self.tables()
        self.thirds()
        self.room()
        self.lead()

    def switches(self, name: str) -> list[Any]:
        """Return a yes or no a run."""
        return [self.model.new_bool_var(f"{name}{rank}") for rank in self.ranks]

    def both(self, one: Any, other: Any) -> Any:
        """Return whether two conditions hold together."""
        met = self.model.new_bool_var("")
        self.model.add_multiplication_equality(met, [one, other])
        return met

    def assigned(self, name: str) -> list[Any]:
        """Return each run's share of a multiset of values."""
        counts = Counter(self.of.values[name])
        table = [{v: self.model.new_bool_var(f"{name}{rank}={v}") for v in counts} for rank in self.ranks]
        for row in table:
            self.model.add_exactly_one(row.values())
        for value, count in counts.items():
            self.model.add(sum(row[value] for row in table) == count)
        self.is_value[name] = table
        return [sum(value * chosen for value, chosen in row.items()) for row in table]

    def above(self, name: str, limit: int) -> list[Any]:
        """Return for each run whether its value is above a limit (a sum that is 0 or 1)."""
        return [sum(x for value, x in row.items() if value > limit) for row in self.is_value[name]]

    def table(self, risky: list[Any], failed: int, n: int) -> None:
        """Demand a 2x2 table."""
        self.model.add(sum(risky) == n)
        met = self.switches("")
        for rank, is_risky in enumerate(risky):
            self.model.add(met[rank] <= is_risky)
            self.model.add(met[rank] <= self.fail[rank])
            self.model.add(met[rank] >= is_risky + self.fail[rank] - 1)
        self.model.add(sum(met) == failed)

    def tables(self) -> None:
        """Demand the six 2x2 tables."""
        for name, counts in self.of.tables.items():
            own = {"flagged": self.flagged, "generic": self.generic}.get(name)
            self.table(own or self.above(name, self.of.medians[name]), *counts)

    def thirds(self) -> None:
        """Demand the table of each tertile, and the outcomes of the runs without a thought."""
        n = len(self.chars)
        cuts = 0, n // 3, 2 * n // 3, n
        failing = [self.both(a, b) for a, b in zip(self.flagged, self.fail, strict=True)]
        for third, start, end in zip(self.of.thirds, cuts, cuts[1:], strict=False):
            self.model.add(sum(self.flagged[start:end]) == third.flagged[1])
            self.model.add(sum(failing[start:end]) == third.flagged[0])
            self.model.add(sum(self.fail[start:end]) == third.flagged[0] + third.unflagged[0])
        zero = self.chars.count(0)
        self.model.add(sum(self.flagged[:zero]) == 0)
        if self.of.zero_fail is not None:
            self.model.add(sum(self.fail[:zero]) == self.of.zero_fail)

    def room(self) -> None:
        """Demand of each run that its text and steps have room for what it holds."""
        for rank, chars in enumerate(self.chars):
            thoughts, length = self.value["think_calls"][rank], self.value["length"][rank]
            needed = CHARS_PER_MARKER * self.value["markers"][rank] + CHARS_PER_THOUGHT * thoughts
            flag = (CHARS_PER_FLAG if chars > LEAST_FOR_TWO else CHARS_PER_ACKNOWLEDGMENT) * self.flagged[
                rank
            ]
            self.model.add(needed + flag <= chars)
            self.model.add(thoughts >= 1) if chars else self.model.add(thoughts == 0)
            self.model.add(chars <= 4000 * thoughts)
            self.model.add(2 * thoughts <= length - 4)
            self.model.add(thoughts + 2 * self.value["tool_errors"][rank] <= length - 6)

    def lead(self) -> None:
        """Demand the medians of the flagged failures: share of the run that is over, steps left."""
        low, high, median, total = self.of.lead
        early, late, middle = self.switches("early"), self.switches("late"), self.switches("middle")
        fewer, more, equal = self.switches("fewer"), self.switches("more"), self.switches("equal")
        flagged_fail = self.of.tables["flagged"][0]
        for rank, left in enumerate(self.left):
            length = self.value["length"][rank]
            is_lead = self.both(self.flagged[rank], self.fail[rank])
            self.model.add(early[rank] + late[rank] + middle[rank] == is_lead)
            self.model.add(fewer[rank] + more[rank] + equal[rank] == is_lead)
            self.model.add(1000 * left > high * length).only_enforce_if(early[rank])
            self.model.add(1000 * left <= low * length).only_enforce_if(late[rank])
            self.model.add(1000 * left > low * length).only_enforce_if(middle[rank])
            self.model.add(1000 * left <= high * length).only_enforce_if(middle[rank])
            self.model.add(left < median).only_enforce_if(fewer[rank])
            self.model.add(left > median).only_enforce_if(more[rank])
            self.model.add(left == median).only_enforce_if(equal[rank])
            self.model.add(left == 0).only_enforce_if(~self.flagged[rank])
            self.model.add(left >= 2).only_enforce_if(self.flagged[rank])
            self.model.add(length - left >= 5).only_enforce_if(self.flagged[rank])
        for group in (early, late, fewer, more):
            self.model.add(sum(group) == flagged_fail // 2)
        if total is not None:
            counted = [self.model.new_int_var(0, 200, "") for _ in self.ranks]
            for rank, left in enumerate(self.left):
                is_lead = early[rank] + late[rank] + middle[rank]
                self.model.add(counted[rank] <= 200 * is_lead)
                self.model.add(counted[rank] <= left)
                self.model.add(counted[rank] >= left - 200 * (1 - is_lead))
            self.model.add(sum(counted) == total)

    def overlap(self) -> dict[str, list[Any]]:
        """Demand section 4.4 and appendix A: the 16 runs with the most markers beside the 16 flagged."""
        top, at = self.above("markers", 7), self.is_value["markers"]
        both = self.switches("both")
        for rank in self.ranks:
            self.model.add(both[rank] <= top[rank])
            self.model.add(both[rank] <= self.flagged[rank])
            self.model.add(both[rank] >= top[rank] + self.flagged[rank] - 1)
            self.model.add(both[rank] <= self.fail[rank])
            # Lexical only: 8, 41 and 46, one more below 41 and two above 46, so that the median is 43.5.
            for value in (8, 41, 46):
                self.model.add(self.flagged[rank] + at[rank][value] <= 1)
            # Detector only: a pass with at most 2, then 2, 4, 5, 6 and 7, so that the median is 4.5.
            for value in (4, 5, 6, 7):
                self.model.add(self.flagged[rank] >= at[rank][value])
        self.model.add(sum(both) == 10)
        self.table(top, 14, 16)
        lexical_high = self.unflagged_above(46)
        self.model.add(sum(lexical_high) == 2)
        two = [self.switch_all(row[2], flag, fail) for row, flag, fail in self.rows_of("markers")]
        self.model.add(sum(two) == 1)
        return {"protein-assembly": two, **self.appendix()}

    def unflagged_above(self, limit: int) -> list[Any]:
        """Return whether each run is above a number of markers and not flagged."""
        found = self.switches("")
        for rank, is_above in enumerate(self.above("markers", limit)):
            self.model.add(found[rank] <= is_above)
            self.model.add(found[rank] <= 1 - self.flagged[rank])
            self.model.add(found[rank] >= is_above - self.flagged[rank])
        return found

    def rows_of(self, name: str) -> list[tuple[dict[int, Any], Any, Any]]:
        """Return each run's value, flag and failure."""
        return list(zip(self.is_value[name], self.flagged, self.fail, strict=True))

    def switch_all(self, *conditions: Any) -> Any:
        """Return whether all conditions hold."""
        met = self.model.new_bool_var("")
        self.model.add_multiplication_equality(met, list(conditions))
        return met

    def appendix(self) -> dict[str, list[Any]]:
        """Return which run is example A.1 and which is A.2: flagged failures with their steps."""
        examples = {"db-wal-recovery": (15, 38, 6, 1500), "a2": (19, 45, 3, 1000)}
        chosen = {name: self.switches(name) for name in examples}
        for name, (acknowledged, acted, thoughts, chars) in examples.items():
            self.model.add_exactly_one(chosen[name])
            for rank, picked in enumerate(chosen[name]):
                length = self.value["length"][rank]
                self.model.add_implication(picked, self.flagged[rank])
                self.model.add_implication(picked, self.fail[rank])
                self.model.add(length - self.left[rank] == acknowledged).only_enforce_if(picked)
                self.model.add(length >= acted + 3).only_enforce_if(picked)
                self.model.add(self.value["think_calls"][rank] >= thoughts).only_enforce_if(picked)
                if self.chars[rank] < chars:
                    self.model.add(picked == 0)
        for one, other in zip(*chosen.values(), strict=True):
            self.model.add(one + other <= 1)
        for picked in chosen.values():  # neither is one of the five runs named by their markers
            for rank, is_it in enumerate(picked):
                row = self.is_value["markers"][rank]
                self.model.add(is_it + row[2] + row[4] + row[5] <= 1)
        return chosen

    def solve(self) -> cp_model.CpSolver:
        """Return the solver at a solution; raise ValueError where there is none."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = self.of.seed
        solver.parameters.max_time_in_seconds = 120
        status = solver.solve(self.model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            raise ValueError(f"{self.of.name}: {solver.status_name(status)}")
        print(self.of.name, solver.status_name(status), f"{solver.wall_time:.1f} s")
        return solver


class Plan(NamedTuple):
    """What is free: drawn after the numbers are solved for."""

    rows: list[dict[str, Any]]
    draw: random.Random

    def flagged(self, outcome: str) -> list[dict[str, Any]]:
        """Return the flagged runs with this outcome."""
        return [row for row in self.rows if row["flagged"] and row["outcome"] == outcome]


def solved(puzzle: Puzzle, solver: cp_model.CpSolver, named: dict[str, list[Any]]) -> Plan:
    """Return a row a run with the solver's numbers, in an order that tells nothing."""
    rows = []
    for rank, chars in enumerate(puzzle.chars):
        row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
        row |= {name: int(solver.value(values[rank])) for name, values in puzzle.value.items()}
        row |= {
            "job": puzzle.of.name,
            "outcome": "failed" if solver.value(puzzle.fail[rank]) else "passed",
            "has_trajectory": 1,
            "flagged": int(solver.value(puzzle.flagged[rank])),
            "rating": int(solver.value(puzzle.generic[rank])),
            "think_chars": chars,
        }
        if row["flagged"]:
            row["first_acknowledgment"] = row["length"] - int(solver.value(puzzle.left[rank]))
        row["example"] = " ".join(name for name, picked in named.items() if solver.value(picked[rank]))
        rows.append(row)
    plan = Plan(rows, random.Random(f"{puzzle.of.name} {puzzle.of.seed}"))
    plan.draw.shuffle(plan.rows)
    return plan


def judge(plan: Plan) -> None:
    """Draw ratings, conflict types, confidences and action steps."""
    for number, row in enumerate(plan.rows):
        row["rating"] = plan.draw.choice((1, 2, 3, 3) if row["rating"] else (4, 4, 5))
        spare = (
            row["think_chars"] - CHARS_PER_MARKER * row["markers"] - CHARS_PER_THOUGHT * row["think_calls"]
        )
        if row["flagged"]:
            last = row["length"] - 1
            row["action_step"] = plan.draw.randint(
                row["first_acknowledgment"] + 1, min(last, row["first_acknowledgment"] + 4)
            )
            row["acknowledgments"] = row["first_acknowledgment"]
            row["conflict_types"] = plan.draw.choices(TYPES, (5, 4, 3, 2, 2))[0]
            row["confidence"] = plan.draw.choice((2, 3, 3, 4, 4, 5))
        elif row["think_calls"] > 1 and spare >= 3 * CHARS_PER_ACKNOWLEDGMENT:
            row["edge_case"] = EDGES[number % len(EDGES)]
    for row, kind in zip(plan.flagged("failed"), TYPES, strict=False):
        row["conflict_types"] = kind  # each of the five occurs


def second_spans(plan: Plan, count: int) -> None:
    """Give some flagged runs a second span of another type."""
    able = [
        r
        for r in plan.flagged("failed")
        if r["think_chars"] > LEAST_FOR_TWO and not r["task"] and not r["example"]
    ]
    for row in able[:count]:
        row["conflict_types"] += ";" + next(kind for kind in TYPES if kind != row["conflict_types"])


def name_qwen(plan: Plan) -> None:
    """Name what the paper names (sections 4.4, appendix A)."""
    for row in plan.rows:
        tasks = {4: "rstan-to-pystan", 5: "bn-fit-modify", 46: "cobol-modernization", 8: "headless-terminal"}
        row["task"] = tasks.get(row["markers"], "")
        row["example"], example = "", row["example"]
        if example == "a2":
            row |= {"example": "A.2", "action_step": 45, "confidence": 3}
        elif example == "db-wal-recovery":
            row |= {"task": example, "example": "A.1", "action_step": 38, "confidence": 5}
            row["acknowledgments"] = "15;25;31;37"
        elif example:
            row["task"] = example


def choose_seeds(plan: Plan) -> None:
    """Choose the tasks of the paper's prompt, and the eight that are paraphrased (sections 4.3, 4.7)."""
    failures = plan.flagged("failed")
    free = [row for row in failures if not row["task"] and not row["example"]]
    free.sort(key=lambda row: ";" not in row["conflict_types"])  # those with two spans first
    for row in (*free[:2], free[-1]):
        row["seed"] = 1
    example = next(row for row in failures if row["example"] == "A.1")
    eight = [*free[:5], example, *free[5:7]]
    for number, row in enumerate(eight):
        before = row["conflict_types"].count(";") + 1
        row["paraphrase_spans"] = before - (number in (0, 2))
        row["paraphrase_same_type"] = int(number < 5)


def name_gemma(plan: Plan) -> None:
    """Name the flagged passes (section 4.6)."""
    named = {"password-recovery": "", "reshard-c4-data": 2, "vulnerable-secret": 3}
    for row, (task, confidence) in zip(plan.flagged("passed"), named.items(), strict=True):
        row |= {"task": task, "confidence": confidence}


def retried(plan: Plan) -> None:
    """Move 20 runs to the retry of the crashed trials, and add the 9 that crashed again (section 3.1)."""
    for row in plan.draw.sample(plan.rows, 20):
        row["job"] = "qwen-retry"
    for _ in range(9):
        lost = dict.fromkeys(COLUMNS, "") | {"job": "qwen-retry", "outcome": "unknown", "has_trajectory": 0}
        plan.rows.insert(plan.draw.randrange(len(plan.rows)), lost)


def write(name: str, plan: Plan, first: int) -> None:
    """Write a plan; runs whose task the paper does not name are numbered, no two datasets alike."""
    for number, row in enumerate(plan.rows, first):
        row["task"] = row["task"] or f"task-{number:02}"
    with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(plan.rows)


def main() -> None:
    """Solve for both datasets and write their plans."""
    puzzle = Puzzle(qwen())
    named = puzzle.overlap()
    plan = solved(puzzle, puzzle.solve(), named)
    judge(plan)
    name_qwen(plan)
    second_spans(plan, 5)
    choose_seeds(plan)
    retried(plan)
    n_qwen = len(plan.rows)
    write("qwen", plan, 1)
    puzzle = Puzzle(gemma())
    plan = solved(puzzle, puzzle.solve(), {})
    judge(plan)
    second_spans(plan, 3)
    name_gemma(plan)
    write("gemma", plan, 1 + n_qwen)


if __name__ == "__main__":
    main()
