"""Write the outcome files of this folder from the published records they are made of.

`python data/outcomes/build.py CORPORA [FOLDER]`: CORPORA holds `wolfbench/all_trials.tsv`,
`terminal_bench/DERIVED_outcomes.tsv` and `DERIVED_tests.tsv`, and `masft/DERIVED_ag2_gsmplus_outcomes.tsv`;
README.md says where they come from. The same records give the same bytes.
"""

import csv
import gzip
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_BACKBONE = {"", "unknown"}
UNSET = "unset"  # Terminal-Bench's word where no failure mode was recorded
NOTHING = {"none", "null", ""}  # what an answer says that finds the problem unanswerable
FRACTION = re.compile(r"\\d?frac\{?(\d+)\}?\{?(\d+)\}?|(\d+)/(\d+)")
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")

Row = dict[str, str]


def records(path: Path) -> list[Row]:
    """Return the rows of a tab-separated file whose cells are written as they are, without quoting."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path: Path, rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> None:
    """Write a gzipped CSV file without a time in it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def numbered(rows: Iterable[Row], names: Sequence[str], order: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield each row with the number of its attempt among those that share `names`, in the order given."""
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    for row in sorted(rows, key=lambda row: tuple(row[name] for name in (*names, *order))):
        key = tuple(row[name] for name in names)
        seen[key] += 1
        yield str(seen[key]), row


def seconds(started: str, finished: str) -> str:
    """Return the seconds between two times as the records write them."""
    first, last = (datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (started, finished))
    return f"{(last - first).total_seconds():.0f}"


def whole(number: str) -> str:
    """Return a reward without needless digits."""
    return f"{float(number):.12g}" if number else ""


def dollars(cost: str) -> str:
    """Return a cost to a hundredth of a cent."""
    return f"{round(float(cost), 4):.12g}" if cost else ""


WOLFBENCH = (
    *("group", "scaffold", "backbone", "task", "attempt", "reward", "output_tokens", "seconds"),
    *("cost_usd", "stop_reason"),
)


def wolfbench(corpora: Path) -> Iterator[Row]:
    """Yield WolfBench's trials: an attempt is a trial of a task in a group, in the order of jobs."""
    rows = records(corpora / "wolfbench" / "all_trials.tsv")
    for attempt, row in numbered(rows, ("group", "task_name"), ("job", "trial_name")):
        yield {
            "group": row["group"],
            "scaffold": row["agent"],
            "backbone": "" if row["model"] in NO_BACKBONE else row["model"],
            "task": row["task_name"],
            "attempt": attempt,
            "reward": whole(row["reward"]),
            "output_tokens": row["n_output"],
            "seconds": seconds(row["started"], row["finished"]),
            "cost_usd": dollars(row["cost"]),
            "stop_reason": row["exception_type"],
        }


TERMINAL_BENCH = (
    *("group", "scaffold", "backbone", "task", "attempt", "passed", "tests", "output_tokens"),
    "stop_reason",
)


def test_vectors(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """Return the vector of each (submission, trial): a place for each test the task was ever seen to have.

    Tests stand in the order of their names, over all submissions. The two files name runs differently, and
    trials alike.
    """
    status: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    names: dict[str, set[str]] = defaultdict(set)
    tasks: dict[tuple[str, str], str] = {}
    for row in rows:
        trial = row["submission"], row["trial_name"]
        tasks[trial] = row["task_id"]
        status[trial][row["test"]] = row["status"]
        names[row["task_id"]].add(row["test"])
    mark = {"passed": "1", "failed": "0"}
    return {
        trial: "".join(mark[found[name]] if name in found else "-" for name in sorted(names[tasks[trial]]))
        for trial, found in status.items()
    }


def agent_and_model(submission: str) -> tuple[str, str]:
    """Return what a submission's name says: date_agent_model, or the agent and a date alone."""
    parts = submission.split("_", 2)
    return (parts[1], parts[2]) if len(parts) == 3 else (submission.split("-", maxsplit=1)[0], "")


def terminal_bench(corpora: Path) -> Iterator[Row]:
    """Yield the leaderboard's trials: an attempt is one of a submission's five runs, numbered by name."""
    folder = corpora / "terminal_bench"
    vectors = test_vectors(records(folder / "DERIVED_tests.tsv"))
    outcomes = {"True": "1", "False": "0", "None": ""}
    rows = records(folder / "DERIVED_outcomes.tsv")
    for attempt, row in numbered(rows, ("submission", "task_id"), ("run", "trial_name")):
        scaffold, backbone = agent_and_model(row["submission"])
        tests = vectors.get((row["submission"], row["trial_name"]), "")
        if (len(tests) - tests.count("-"), tests.count("1")) != (
            int(row["n_tests"]),
            int(row["n_tests_passed"]),
        ):
            raise ValueError(f"{row['trial_name']}: the two files differ in its tests")
        yield {
            "group": row["submission"],
            "scaffold": scaffold,
            "backbone": backbone,
            "task": row["task_id"],
            "attempt": attempt,
            "passed": outcomes[row["is_resolved"]],
            "tests": tests,
            # Most agents reported nothing, which the records write as 0.
            "output_tokens": "" if row["out_tokens"] in ("0", "None") else row["out_tokens"],
            "stop_reason": "" if row["failure_mode"] == UNSET else row["failure_mode"],
        }


GSM_PLUS = ("group", "scaffold", "backbone", "task", "attempt", "passed", "answer", "target", "steps")


def bare(answer: str) -> str:
    """Return an answer without markup, units' braces, quotes and signs that do not tell answers apart."""
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", answer)
    return re.sub(r"[\s$'\"]|\\[,;! ]|,(?=\d{3})|\\?%$|\\(?=\$)", "", text).lower()


def number(text: str) -> str | None:
    """Return a number or a plain fraction to 10 significant digits, None for anything else."""
    parts = FRACTION.fullmatch(text)
    if parts is not None:
        above, below = (int(part) for part in parts.groups() if part is not None)
        return f"{float(Fraction(above, below)):.10g}" if below else None
    return f"{float(text):.10g}" if PLAIN.fullmatch(text) else None


def named(answers: Iterable[str]) -> dict[str, str]:
    """Return what each given answer is called: its number, "none", or "other n" where it is words."""
    texts = {answer: bare(answer) for answer in answers}
    numbers = {text: number(text) for text in texts.values()}
    words = sorted(text for text, value in numbers.items() if value is None and text not in NOTHING)
    others = {text: f"other {place}" for place, text in enumerate(words, 1)}
    return {
        answer: "none" if text in NOTHING else numbers[text] or others[text] for answer, text in texts.items()
    }


def target_of(rows: Sequence[Row]) -> str:
    """Return an item's right answer; one record of one item differs from its 35 others."""
    gold = bare(Counter(row["gold_answer"] for row in rows).most_common(1)[0][0])
    return number(gold) or gold


def answer_of(row: Row, name: str, target: str) -> str:
    """Return an answer's identity, which agrees with how it was graded whatever it says."""
    if row["correct"] == "True":
        return target
    if not row["given_answer"]:
        return ""  # none was found in the reply: unknown, not "none"
    return f"{name} (graded wrong)" if name == target else name


def gsm_plus(corpora: Path) -> Iterator[Row]:
    """Yield the answers of the AG2 runs: an attempt is a seed."""
    rows = records(corpora / "masft" / "DERIVED_ag2_gsmplus_outcomes.tsv")
    items: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        items[row["instance_id"]].append(row)
    names = {item: named(row["given_answer"] for row in found) for item, found in items.items()}
    targets = {item: target_of(found) for item, found in items.items()}
    order = ("model", "config", "instance_id", "seed")
    for row in sorted(rows, key=lambda row: tuple(row[name] for name in order)):
        target = targets[row["instance_id"]]
        yield {
            "group": f"{row['model']} {row['config']}",
            "scaffold": f"AG2 {row['config']}",
            "backbone": row["model"],
            "task": row["instance_id"],
            "attempt": row["seed"],
            "passed": "1" if row["correct"] == "True" else "0",
            "answer": answer_of(row, names[row["instance_id"]][row["given_answer"]], target),
            "target": target,
            "steps": row["n_turns"],
        }


SETS = {
    "wolfbench": (wolfbench, WOLFBENCH),
    "terminal-bench": (terminal_bench, TERMINAL_BENCH),
    "gsm-plus": (gsm_plus, GSM_PLUS),
}


def build(corpora: Path, folder: Path) -> None:
    """Write every file of the folder."""
    for name, (rows, columns) in SETS.items():
        write(folder / f"{name}.csv.gz", rows(corpora), columns)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python data/outcomes/build.py CORPORA [FOLDER]")
    build(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else HERE)
