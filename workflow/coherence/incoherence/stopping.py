"""When to stop drawing samples of an item that gives the same answer again and again: for triage alone.

A run that stops early biases both the error rate and the variance (with 9 of 10 answers alike and a stop
after 5, the error rate by -44 %). Estimates rest on the first `earliest_stop` samples of every item: a number
that the rule fixes before anything is drawn. For estimates, draw the same number of samples of every item.

Both rules are about single answers: P(all n samples agree) = sum of p^n over the answers. The level of a
bound is exact for an answer named beforehand; over all answers it can be 0.21 in place of 0.05 at n = 2,
0.10 at 4, 0.069 at 5, 0.054 at 6, and is 0.051 or less from 7 on.
"""

from collections.abc import Sequence
from math import ceil, log
from typing import Annotated, Final, Literal

from msgspec import Meta

from coherence.records import Record

LEVEL: Final = 0.05
ROUNDING: Final = 1e-9  # a quotient of logarithms that is a whole number must not be rounded up

Share = Annotated[float, Meta(gt=0, lt=1)]
Stop = Literal["certified", "agrees"]


class Certify(Record, frozen=True, forbid_unknown_fields=True, tag_field="rule", tag="certify"):
    """Rule S: stop once all samples agree and the bound on the share of other answers is this low.

    Looked at once, after the one number of samples that can meet the bound, or with `any_peek` at any time.
    """

    bound: Share = 0.2
    level: Share = LEVEL
    any_peek: bool = False


class Sprt(Record, frozen=True, forbid_unknown_fields=True, tag_field="rule", tag="sprt"):
    """Rule W: Wald's sequential test of a share of other answers of `d0` against one of `d1`.

    The first sample names the answer; each later one agrees with it or not.
    """

    d0: Share = 0.01
    d1: Share = 0.1
    alpha: Share = LEVEL
    beta: Share = LEVEL

    def __post_init__(self) -> None:
        if self.d1 <= self.d0 or self.alpha + self.beta >= 1:
            raise ValueError("`d1` must be above `d0`, and `alpha` + `beta` below 1")


Rule = Certify | Sprt


def disagreement_bound(n: int, level: float = LEVEL, any_peek: bool = False) -> float:
    """Return the upper bound on the share of other answers after `n` samples that all agree.

    At confidence 1 - level for an `n` fixed beforehand, 1 - level^(1/n); valid at whichever n one looks,
    1 - (level / (n + 1))^(1/n), from the uniform mixture and Ville's inequality.
    """
    if n < 1:
        return 1.0
    return 1.0 - float((level / (n + 1) if any_peek else level) ** (1 / n))


def samples_to_certify(rule: Certify, most: int) -> int | None:
    """Return the smallest number of agreeing samples that meets the rule's bound, None above `most`."""
    bounds = (disagreement_bound(n, rule.level, rule.any_peek) for n in range(1, most + 1))
    return next((n for n, bound in enumerate(bounds, 1) if bound <= rule.bound), None)


def agreements_to_accept(rule: Sprt) -> int:
    """Return the number of straight agreements with the first sample after which the test accepts `d0`."""
    return ceil(_accept(rule) / _step(rule, agrees=True) - ROUNDING)


def accepted(rule: Sprt, agreements: Sequence[bool]) -> bool | None:
    """Return what the test says of these agreements in their order: True for d0, False for d1, else None."""
    ratio, reject = 0.0, log((1 - rule.beta) / rule.alpha)
    for agrees in agreements:
        ratio += _step(rule, agrees)
        if ratio <= _accept(rule) + ROUNDING:
            return True
        if ratio >= reject - ROUNDING:
            return False
    return None


def stops(rule: Rule, answers: Sequence[str | None]) -> Stop | None:
    """Return why to stop after these answers, or None to go on; None among them, no answer, never agrees."""
    if not answers or answers[0] is None:
        return None
    agreements = [answer == answers[0] for answer in answers[1:]]
    if isinstance(rule, Sprt):
        return "agrees" if accepted(rule, agreements) else None
    needed = samples_to_certify(rule, len(answers))
    met = needed is not None and (rule.any_peek or needed == len(answers))
    return "certified" if met and all(agreements) else None


def earliest_stop(rule: Rule, most: int) -> int:
    """Return the number of samples, of `most` at the most, that the rule draws of every item at least."""
    needed = 1 + agreements_to_accept(rule) if isinstance(rule, Sprt) else samples_to_certify(rule, most)
    return min(most, needed or most)


def _accept(rule: Sprt) -> float:
    return log(rule.beta / (1 - rule.alpha))


def _step(rule: Sprt, agrees: bool) -> float:
    """Return what one sample adds to the log-likelihood ratio of d1 over d0."""
    return log((1 - rule.d1) / (1 - rule.d0)) if agrees else log(rule.d1 / rule.d0)
