"""Pass or fail: by the reward alone, and unknown with a reason where there is none."""

from typing import Any

from coherence.formats.deviations import Deviations
from coherence.formats.narrow import number
from coherence.records import Outcome


def by_reward(
    reward: float | None, pass_reward: float, reason: str | None = None, exception: str | None = None
) -> Outcome:
    """Return the outcome of a reward; without one it is unknown for `reason`."""
    if reward is None:
        return Outcome("unknown", reason=reason, exception=exception)
    return Outcome("passed" if reward >= pass_reward else "failed", reward, exception=exception)


def choose_reward(rewards: dict[str, Any], key: str | None, notes: Deviations) -> tuple[float | None, str]:
    """Return the reward that decides, or None and why: the named one, else "reward", else the only one."""
    chosen = key
    if chosen is None:
        chosen = next(iter(rewards)) if len(rewards) == 1 else "reward"
    if chosen not in rewards:
        names = ", ".join(name[:40] for name in sorted(rewards)[:5])
        return None, f"no reward named {chosen!r} among {len(rewards)} ({names})"
    reward = number(rewards[chosen], f"reward {chosen!r}", notes)
    return reward, f"reward {chosen!r} is not a finite number"
