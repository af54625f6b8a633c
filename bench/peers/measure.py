"""One workload on so many threads: every engine in turns, and how exact each is."""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import accuracy
import engines
import machine
import models
import protocol
from process import EngineFailed, Place, Process, fresh_start
from workloads import Workload

SHORT_RUN_SECONDS = 0.5  # shorter ones are warmed up again in every turn
TURN_WARM_UP_SECONDS = 0.1
SLOWEST_SHARE = 0.25  # of the time limit, for one run
BYTES_PER_WEIGHT = 8  # in float32, and once more as the library packs them


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int = 11
    limit_s: float = 600.0
    warm_up_s: float = 1.5
    turn_s: float = 0.2


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Measurement:
    """The engines of one workload; those that fail are left out, with the reason."""

    def __init__(self, workload: Workload, place: Place, errors: Path) -> None:
        self.workload, self.place, self.errors = workload, place, errors
        self.unavailable: dict[str, str] = {}
        self.details: dict[str, dict] = {}

    def leave_out(self, failure: EngineFailed) -> None:
        self.unavailable[failure.name] = str(failure)
        say(f"  {engines.by_name(failure.name).label}: {failure}")

    def attempt(self, function: Callable[[], None]) -> bool:
        try:
            function()
        except EngineFailed as failure:
            self.leave_out(failure)
            return False
        return True

    def export(self, specs: list[engines.Spec]) -> list[engines.Spec]:
        """Those of the engines that have their model ready, each by a process of its own."""
        def run(spec: engines.Spec) -> None:
            if not spec.is_lattice:
                with Process(spec, self.place, self.errors) as process:
                    process.ask("export")

        return [spec for spec in specs if self.attempt(lambda: run(spec))]

    def start(self, stack: ExitStack, spec: engines.Spec, work: dict, effort: Effort):
        """A process that is warm, or None."""
        needed = models.matrix_elements(self.place.model_dir) * BYTES_PER_WEIGHT
        process = stack.enter_context(Process(spec, self.place, self.errors))

        def run() -> None:
            if machine.available_bytes() < needed:
                raise EngineFailed(spec.name, "no memory is left beside the engines before it")
            loaded = process.ask("load")
            if self.workload.kind == "decode":  # a whole run may take too long to find that out
                process.ask("prepare", **{**work, "output": 2})
                self.check_pace(spec, process, work["output"], effort)
            process.ask("prepare", **work)
            self.check_pace(spec, process, 1, effort)
            times = process.ask("run", seconds=0, warm_up=effort.warm_up_s)["seconds"]
            self.details[spec.name] = {**loaded, "warm_run_s": times[-1]}

        return process if self.attempt(run) else None

    def check_pace(self, spec: engines.Spec, process: Process, count: int,
                   effort: Effort) -> None:
        """Leaves out an engine that would use up the others' time."""
        seconds = count * process.ask("run", seconds=0, warm_up=0)["seconds"][-1]
        if seconds > effort.limit_s * SLOWEST_SHARE:
            raise EngineFailed(spec.name, f"too slow: one run takes {seconds:.0f} s, over a "
                               f"quarter of the time limit")

    def leg(self, name: str, process: Process, turn_s: float) -> protocol.Leg:
        short = self.details[name]["warm_run_s"] < SHORT_RUN_SECONDS
        warm_up = TURN_WARM_UP_SECONDS if short else 0
        return lambda: process.ask("run", seconds=turn_s, warm_up=warm_up)["seconds"]

    def interleave(self, legs: dict[str, protocol.Leg], effort: Effort, canary) -> list[dict]:
        """The rounds; begun again without an engine that fails in the middle of them."""
        while legs:
            try:
                return protocol.interleave(legs, effort.rounds, canary, effort.limit_s)
            except EngineFailed as failure:
                self.leave_out(failure)
                del legs[failure.name]
        return []

    def turns(self, specs: list[engines.Spec], work: dict, effort: Effort, canary) -> list[dict]:
        """Long-lived processes take turns; then their outputs are compared."""
        truth = self.reference(work)
        with ExitStack() as stack:
            started = {spec.name: self.start(stack, spec, work, effort)
                       for spec in specs}
            running = {name: process for name, process in started.items() if process}
            legs = {name: self.leg(name, process, effort.turn_s)
                    for name, process in running.items()}
            records = self.interleave(legs, effort, canary)
            for name in legs:  # those that came through
                self.attempt(lambda: self.check(name, running[name], truth))
        return records

    def reference(self, work: dict):
        """The outputs to compare with, or None where they cannot be computed."""
        try:
            return accuracy.reference(self.workload, work, self.place, self.errors)
        except EngineFailed as failure:
            say(f"  no accuracy: {failure}")
            return None

    def check(self, name: str, process: Process, truth) -> None:
        if truth is not None:
            with tempfile.TemporaryDirectory() as folder:
                outputs = accuracy.read_outputs(process, Path(folder) / "outputs")
            self.details[name]["accuracy"] = accuracy.compare(self.workload, outputs, truth)
        self.details[name]["peak_rss_bytes"] = process.peak_rss_bytes()

    def starts(self, specs: list[engines.Spec], work: dict, effort: Effort, canary) -> list[dict]:
        """Fresh processes take turns; the first start of each, which reads its files from disk,
        does not count."""
        found: dict[str, list[dict]] = {}

        def start(spec: engines.Spec) -> list[float]:
            row = fresh_start(spec, self.place, work, self.errors)
            found.setdefault(spec.name, []).append(row)
            return [row["seconds"]]

        ready = [spec for spec in specs if self.attempt(lambda: start(spec))]
        legs = {spec.name: functools.partial(start, spec) for spec in ready}
        records = self.interleave(legs, effort, canary)
        for name in legs:
            self.details[name] = {key: protocol.quantile([row[key] for row in found[name][1:]], 0.5)
                                  for key in ("load_s", "peak_rss_bytes")}
        return records


def measure(workload: Workload, specs: list[engines.Spec], work: dict, place: Place,
            effort: Effort, errors: Path) -> dict:
    """Everything about one workload on so many threads, as the JSON file has it."""
    from canary import Canaries

    measurement = Measurement(workload, place, errors)
    canary = Canaries(place.threads).measure
    run = measurement.starts if workload.kind == "start" else measurement.turns
    records = run(measurement.export(specs), work, effort, canary)
    names = list(records[0]["seconds"]) if records else []
    base = next((name for name in (*engines.BASES, *names) if name in names), None)
    return {
        "workload": workload.name, "kind": workload.kind, "threads": place.threads,
        "tokens": sum(workload.lengths), "rows": len(workload.lengths), "base": base,
        "batch_size": place.batch_size, "rounds_wanted": effort.rounds, "rounds": len(records),
        "engines": {name: {**measurement.details[name],
                           **protocol.compare(records, name, base)} for name in names},
        "unavailable": measurement.unavailable, "records": records}
