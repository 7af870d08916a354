"""Points of the audit on what divides the trajectories: verbosity, thoughts, the other method."""

from collections.abc import Callable, Sequence

from coherence.evaluation.audit_findings import Finding, known, p_text, points
from coherence.evaluation.published import FIRST, SECOND, Published, counts
from coherence.stats.strata import cmh, exact_cmh, mantel_haenszel, standardised
from coherence.stats.tables import Counts, compare

Strata = Sequence[Counts]


def weighted_average(published: Published) -> Finding:
    """I2: the crude gap as an average of its strata's."""
    row = published.of(FIRST)
    crude, gaps = compare(row.counts).gap or 0.0, published.gaps_within(FIRST).gaps
    ways = published.strata[FIRST]
    largest = max(float(stratum.gap or 0) for strata in ways for stratum in strata)
    low, rest = _low_and_rest(ways[0])
    flagged = rest.risky_n
    failed_rest, failed_low = _failed(rest), _failed(low)
    return Finding(
        "I2",
        "4.5",
        f"The overall gap of +{row.gap} is a weighted average of {', '.join(f'{gap:+}' for gap in gaps)}.",
        f"Impossible: no average of these exceeds {points(largest)}, and the crude gap is "
        f"{points(crude, 2)}. Verbosity inflates it: {flagged} of {row.risky[1]} flags lie in the middle "
        f"and high tertile, of which {failed_rest}/{rest.n} = {points(100 * failed_rest / rest.n, 0)} % "
        f"fail, against {failed_low}/{low.n} = {points(100 * failed_low / low.n, 0)} % in the low one.",
        "contradicted",
        known(
            crude=crude, largest=largest, flagged_above_low=flagged, failed_rest=failed_rest, n_rest=rest.n
        ),
    )


def one_flag(published: Published) -> Finding:
    """I3: gaps that rest on one flagged trajectory."""
    low = {name: {ways[0] for ways in published.strata[name]} for name in (FIRST, SECOND)}
    told = " and ".join(
        f"{gap:+} ({name.capitalize()}) on {_against(stratum)}"
        for name, found in low.items()
        for stratum, gap in zip(sorted(found, key=str), published.gaps_within(name).gaps, strict=False)
    )
    flagged = {name: max(stratum.risky_n for stratum in found) for name, found in low.items()}
    return Finding(
        "I3",
        "4.5, 4.6",
        f"In the lowest tertile the gap is {published.gaps_within(FIRST).gaps[0]:+} in the first dataset and "
        f"{published.gaps_within(SECOND).gaps[0]:+} in the second.",
        f"Each rests on {flagged[FIRST]} flagged trajectory: {told}.",
        "not supported",
        known(flagged_first=flagged[FIRST], flagged_second=flagged[SECOND]),
    )


def zero_thoughts(published: Published) -> Finding:
    """I4: how much of the second dataset's smaller gap trajectories without thoughts explain."""
    first, second = (compare(published.of(name).counts) for name in (FIRST, SECOND))
    table, (failed, n) = second.counts, published.without_thoughts.failed
    rest = compare(Counts(table.risky_fail, table.risky_n, table.safe_fail - failed, table.safe_n - n))
    gained, short = (rest.gap or 0) - (second.gap or 0), (first.gap or 0) - (second.gap or 0)
    return Finding(
        "I4",
        "abstract, 4.6, 7",
        f"The second dataset's smaller gap is driven largely by its {n} trajectories without thoughts.",
        f"Without them the gap is {points(rest.gap)} ({_against(rest.counts)}, p = "
        f"{p_text(rest.fisher_p)}) in place of {points(second.gap)}: {points(gained)} of the "
        f"{points(short)} points that are missing, {points(100 * gained / short, 0)} %.",
        "not supported",
        known(gap=rest.gap, p=rest.fisher_p, gained=gained, short=short, share=100 * gained / short),
    )


def verbosity(published: Published) -> Finding:
    """I5: the gap adjusted for verbosity."""
    ways, second = published.strata[FIRST], published.strata[SECOND][0]
    gap, exact, plain = (_range(ways, read) for read in (_gap, _exact, _cmh))
    flagged = _range(ways, lambda strata: standardised(strata, "risky"))
    everyone = _range(ways, lambda strata: standardised(strata, "all"))
    return Finding(
        "I5",
        "4.5, 4.6",
        "The gap is reported within tertiles of verbosity, and overall without regard to them.",
        f"Adjusted for tertiles (Mantel-Haenszel) it is {_span(gap)} points in the first dataset (over "
        f"all {len(ways)} solutions of its tertiles; crude "
        f"{points(compare(published.of(FIRST).counts).gap)}), exact p = {_span(exact, 3)}, CMH p = "
        f"{_span(plain, 3)}; at the verbosity of the flagged {_span(flagged)}, of all {_span(everyone)}. "
        f"In the second it is {points(_gap(second))}, exact p = {p_text(_exact(second))}.",
        "not reported",
        known(
            gap_low=gap[0],
            gap_high=gap[1],
            exact_low=exact[0],
            exact_high=exact[1],
            cmh_low=plain[0],
            cmh_high=plain[1],
            standardised_flagged=flagged[0],
            standardised_all=everyone[0],
            second_gap=_gap(second),
            second_exact=_exact(second),
        ),
    )


def replication(published: Published) -> Finding:
    """I14: the second dataset's high tertile."""
    strata = published.strata[SECOND][0]
    found = compare(strata[2])
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return Finding(
        "I14",
        "abstract, 1, 4.6, 7",
        f"The second dataset's high tertile ({published.gaps_within(SECOND).gaps[2]:+}) replicates the gap.",
        f"{_against(strata[2])}: {points(found.gap)} ({points(low, 0)} to {points(high, 0)}), p = "
        f"{p_text(found.fisher_p)}; one of three tertiles, chosen after the fact.",
        "not supported",
        known(gap=found.gap, p=found.fisher_p, low=low, high=high),
    )


def both_methods(published: Published) -> Finding:
    """I15: detector and lexical baseline given each other."""
    joint = joint_table(published)
    both, detector, lexical, neither = joint
    given_lexical = [counts(both, lexical), counts(detector, neither)]
    given_detector = [counts(both, detector), counts(lexical, neither)]
    return Finding(
        "I15",
        "4.4 with Table 1",
        "The detector adds value on subtle cases that the marker count misses.",
        f"The text determines the joint table (failed/n): both {_share(both)}, detector only "
        f"{_share(detector)}, more than the median of markers only {_share(lexical)}, neither "
        f"{_share(neither)}. Given the lexical split the detector adds {points(_gap(given_lexical))} "
        f"points (exact p = {p_text(_exact(given_lexical))}); given the detector the lexical split adds "
        f"{points(_gap(given_detector))} (exact p = {p_text(_exact(given_detector))}).",
        "not supported",
        known(
            both_n=both[1],
            detector_only_n=detector[1],
            lexical_only_n=lexical[1],
            neither_n=neither[1],
            neither_failed=neither[0],
            detector_gap=_gap(given_lexical),
            detector_p=_exact(given_lexical),
            lexical_gap=_gap(given_detector),
            lexical_p=_exact(given_detector),
        ),
    )


def joint_table(published: Published) -> tuple[tuple[int, int], ...]:
    """Return (failed, n) of both, detector only, lexical above its median only, and neither."""
    lap, flagged, table = published.overlap, published.of(FIRST).risky, published.of(FIRST)
    above = published.of(FIRST, "lexical").risky
    everyone = (table.risky[0] + table.safe[0], table.counts.n)
    both = _plus(lap.both, lap.detector_only_above_median)
    detector, lexical = _plus(flagged, both, -1), _plus(above, both, -1)
    return both, detector, lexical, _plus(_plus(everyone, flagged, -1), lexical, -1)


def verbosity_alone(published: Published) -> Finding:
    """I17: verbosity as a baseline of its own."""
    low, rest = _low_and_rest(published.strata[FIRST][0])
    found = compare(Counts(_failed(rest), rest.n, _failed(low), low.n))
    detector = compare(published.of(FIRST).counts)
    return Finding(
        "I17",
        "4.5",
        "The baselines are five.",
        f"A sixth follows from the tertiles: not being in the lowest. {_against(found.counts)}: "
        f"{points(found.gap)} points, p = {p_text(found.fisher_p)}; the detector has {points(detector.gap)}.",
        "not reported",
        known(gap=found.gap, p=found.fisher_p, detector_gap=detector.gap),
    )


def _plus(one: tuple[int, int], two: tuple[int, int], sign: int = 1) -> tuple[int, int]:
    return one[0] + sign * two[0], one[1] + sign * two[1]


def _low_and_rest(strata: Strata) -> tuple[Counts, Counts]:
    low, middle, high = strata
    return low, Counts(
        middle.risky_fail + high.risky_fail,
        middle.risky_n + high.risky_n,
        middle.safe_fail + high.safe_fail,
        middle.safe_n + high.safe_n,
    )


def _failed(table: Counts) -> int:
    return table.risky_fail + table.safe_fail


def _against(table: Counts) -> str:
    return f"{table.risky_fail}/{table.risky_n} against {table.safe_fail}/{table.safe_n}"


def _share(share: tuple[int, int]) -> str:
    return f"{share[0]}/{share[1]}"


def _gap(strata: Strata) -> float | None:
    found = mantel_haenszel(strata)
    return found.gap if found else None


def _exact(strata: Strata) -> float | None:
    found = exact_cmh(strata)
    return found.two_sided if found else None


def _cmh(strata: Strata) -> float | None:
    found = cmh(strata)
    return found.p if found else None


def _range(ways: Sequence[Strata], read: Callable[[Strata], float | None]) -> tuple[float, float]:
    values = [value for strata in ways if (value := read(strata)) is not None]
    return min(values), max(values)


def _span(bounds: tuple[float, float], decimals: int = 1) -> str:
    low, high = (points(bound, decimals) for bound in bounds)
    return low if low == high else f"{low} to {high}"
