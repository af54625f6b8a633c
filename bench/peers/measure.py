"""One workload on so many threads: every engine in turns, and how exact each is."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import accuracy
import engines
import protocol
from process import EngineFailed, Place, Process, fresh_start
from workloads import Workload

SHORT_RUN_SECONDS = 0.5  # shorter ones are warmed up again in every turn
TURN_WARM_UP_SECONDS = 0.1


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

    def attempt(self, spec: engines.Spec, function: Callable[[], None]) -> bool:
        try:
            function()
        except EngineFailed as failure:
            self.unavailable[spec.name] = str(failure)
            say(f"  {spec.label}: {failure}")
            return False
        return True

    def export(self, specs: list[engines.Spec]) -> list[engines.Spec]:
        """Those of the engines that have their model ready, each by a process of its own."""
        def run(spec: engines.Spec) -> None:
            if not spec.is_lattice:
                with Process(spec, self.place, self.errors) as process:
                    process.ask("export")

        return [spec for spec in specs if self.attempt(spec, lambda: run(spec))]

    def start(self, stack: ExitStack, spec: engines.Spec, work: dict, warm_up_s: float):
        """A process that is warm, or None."""
        process = stack.enter_context(Process(spec, self.place, self.errors))

        def run() -> None:
            loaded = process.ask("load")
            process.ask("prepare", **work)
            times = process.ask("run", seconds=0, warm_up=warm_up_s)["seconds"]
            self.details[spec.name] = {**loaded, "warm_run_s": times[-1]}

        return process if self.attempt(spec, run) else None

    def leg(self, spec: engines.Spec, process: Process, turn_s: float) -> protocol.Leg:
        short = self.details[spec.name]["warm_run_s"] < SHORT_RUN_SECONDS
        warm_up = TURN_WARM_UP_SECONDS if short else 0
        return lambda: process.ask("run", seconds=turn_s, warm_up=warm_up)["seconds"]

    def turns(self, specs: list[engines.Spec], work: dict, effort: Effort, canary) -> list[dict]:
        """Long-lived processes take turns; then their outputs are compared."""
        with ExitStack() as stack:
            running = {}
            for spec in specs:
                process = self.start(stack, spec, work, effort.warm_up_s)
                if process is not None:
                    running[spec] = process
            if not running:
                return []
            legs = {spec.name: self.leg(spec, process, effort.turn_s)
                    for spec, process in running.items()}
            records = protocol.interleave(legs, effort.rounds, canary, effort.limit_s)
            truth = accuracy.reference(self.workload, work, self.place, self.errors)
            for spec, process in running.items():
                self.attempt(spec, lambda: self.check(spec, process, truth))
        return records

    def check(self, spec: engines.Spec, process: Process, truth) -> None:
        with tempfile.TemporaryDirectory() as folder:
            outputs = accuracy.read_outputs(process, Path(folder) / "outputs")
        self.details[spec.name] |= {
            "accuracy": accuracy.compare(self.workload, outputs, truth), **process.ask("rss")}

    def starts(self, specs: list[engines.Spec], work: dict, effort: Effort, canary) -> list[dict]:
        """Fresh processes take turns; the first start of each reads its files from disk."""
        found: dict[str, list[dict]] = {}

        def start(spec: engines.Spec) -> None:
            found.setdefault(spec.name, []).append(
                fresh_start(spec, self.place, work, self.errors))

        def leg(spec: engines.Spec) -> protocol.Leg:
            def run() -> list[float]:
                start(spec)
                return [found[spec.name][-1]["seconds"]]
            return run

        ready = [spec for spec in specs if self.attempt(spec, lambda: start(spec))]
        if not ready:
            return []
        records = protocol.interleave({spec.name: leg(spec) for spec in ready}, effort.rounds,
                                      canary, effort.limit_s)
        for name, rows in found.items():
            self.details[name] = {key: protocol.quantile([row[key] for row in rows[1:]], 0.5)
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
