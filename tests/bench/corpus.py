"""Generated runs to measure with: the same arguments give the same bytes."""

import json
import random
from pathlib import Path

TEXT = (
    "the build fails because this header is missing but we should check whether parser reads every line "
    "before writing tests pass however output differs wait actually file config value expected error module"
)
WORDS = TEXT.split()


def prose(draw: random.Random, characters: int) -> str:
    """Return random words of about this many characters."""
    return " ".join(draw.choices(WORDS, k=max(1, characters // 6)))


def agent_step(draw: random.Random, number: int, characters: int) -> dict[str, object]:
    """Return one agent step: a third thought, the rest observation."""
    call = f"call_{number}"
    return {
        "step_id": number,
        "source": "agent",
        "message": "",
        "reasoning_content": prose(draw, characters // 3),
        "tool_calls": [
            {"tool_call_id": call, "function_name": "bash", "arguments": {"command": prose(draw, 60)}}
        ],
        "observation": {"results": [{"source_call_id": call, "content": prose(draw, 2 * characters // 3)}]},
    }


def trajectory(seed: int, messages: int, characters: int) -> dict[str, object]:
    """Return one ATIF document of `messages` steps with about `characters` in each."""
    draw = random.Random(seed)
    steps = [{"step_id": 1, "source": "user", "message": prose(draw, 400)}]
    steps += [agent_step(draw, number, characters) for number in range(2, messages + 1)]
    return {
        "schema_version": "ATIF-v1.5",
        "session_id": "bench",
        "agent": {"name": "bench", "version": "1"},
        "steps": steps,
    }


def write_runs(root: Path, runs: int, messages: int, characters: int) -> int:
    """Write a Harbor job of `runs` trials and return its trajectories' size; every third passed."""
    written = 0
    for number in range(runs):
        trial = root / f"task-{number:05d}__bench"
        (trial / "agent").mkdir(parents=True)
        data = json.dumps(trajectory(number, messages, characters)).encode()
        (trial / "agent" / "trajectory.json").write_bytes(data)
        result = {
            "task_name": f"task-{number:05d}",
            "trial_name": trial.name,
            "verifier_result": {"rewards": {"reward": float(number % 3 == 0)}},
        }
        (trial / "result.json").write_text(json.dumps(result))
        written += len(data)
    return written
