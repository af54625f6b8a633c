"""The measuring protocol: turns, steady rounds, medians, quartiles and ratios.

Standard library only: the canaries that tell how fast the machine is are in canary.py.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

CANARY_TOLERANCE = 1.05
MIN_STEADY_ROUNDS = 5
SETTLE_SECONDS = 0.02  # the spinning threads of the last engine go to sleep

Canary = dict[str, float]
Leg = Callable[[], list[float]]


def steady(canaries: list[Canary]) -> bool:
    """Whether canaries agree: virtual cores change speed within seconds, and then a ratio of two
    engines says which of them had the faster seconds."""
    return all(max(values) <= CANARY_TOLERANCE * min(values)
               for values in ([canary[key] for canary in canaries] for key in canaries[0]))


def turns(names: list[str], number: int) -> list[str]:
    """The order of round `number`: A B C, B C A, C A B, ..."""
    shift = number % len(names)
    return names[shift:] + names[:shift]


def interleave(legs: dict[str, Leg], rounds: int, canary: Callable[[], Canary],
               limit_s: float = float("inf")) -> list[dict]:
    """Runs the legs in turns with a canary before and behind each; one record a round.

    A leg returns the seconds of one or more runs; its value is their median. No round is begun
    that would, going by the longest one, end behind the limit; the first always is.
    """
    start, longest, records = time.perf_counter(), 0.0, []
    for number in range(rounds):
        begin = time.perf_counter()
        if records and begin - start + longest > limit_s:
            break
        seconds, canaries, order = {}, [], turns(list(legs), number)
        for name in order:
            time.sleep(SETTLE_SECONDS)
            canaries.append(canary())
            seconds[name] = statistics.median(legs[name]())
        time.sleep(SETTLE_SECONDS)
        canaries.append(canary())
        records.append({"order": order, "seconds": seconds, "canaries": canaries})
        longest = max(longest, time.perf_counter() - begin)
    return records


def beside(record: dict, name: str) -> list[Canary]:
    """The canaries before and behind an engine's turn."""
    place = record["order"].index(name)
    return record["canaries"][place:place + 2]


def quantile(values: list[float], share: float) -> float:
    """With linear interpolation between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def quartiles(values: list[float]) -> dict[str, float]:
    return {"q1": quantile(values, 0.25), "median": quantile(values, 0.5),
            "q3": quantile(values, 0.75)}


def compare(records: list[dict], name: str, base: str) -> dict:
    """An engine's seconds, and its speed as a multiple of the base's (above 1: faster).

    Used are the rounds in which the canaries beside both turns agree; all of them, marked noisy,
    when fewer than five do.
    """
    kept = [record for record in records
            if steady(beside(record, name) + beside(record, base))]
    noisy = len(kept) < MIN_STEADY_ROUNDS
    used = records if noisy else kept
    own = [record["seconds"][name] for record in used]
    others = [record["seconds"][base] for record in used]
    return {"seconds": quartiles(own), "base": base, "steady_rounds": len(kept), "noisy": noisy,
            "ratio": quartiles([other / mine for other, mine in zip(others, own)]),
            "ratio_of_medians": statistics.median(others) / statistics.median(own)}


def share_of_bandwidth(records: list[dict], name: str, bytes_read: float) -> float:
    """How much of what the threads can read from memory, going by the canaries beside each turn,
    a run used that reads so many bytes: the median over the rounds."""
    return statistics.median(
        bytes_read / record["seconds"][name]
        / (statistics.fmean(canary["read_gbytes"] for canary in beside(record, name)) * 1e9)
        for record in records)
