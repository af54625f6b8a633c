"""Questions to what was measured. Standard library only."""

from __future__ import annotations

import protocol
import workloads


class Found:
    """The measurements of a results file."""

    def __init__(self, data: dict) -> None:
        self.rows = {(row["workload"], row["threads"]): row for row in data["measurements"]}

    def row(self, workload: str, threads: int) -> dict | None:
        return self.rows.get((workload, threads))

    def threads(self) -> list[int]:
        return sorted({threads for _, threads in self.rows})

    def names(self) -> list[str]:
        """The workloads that were measured, in the order of workloads.ALL."""
        measured = {name for name, _ in self.rows}
        return [workload.name for workload in workloads.ALL if workload.name in measured]

    def engine(self, workload: str, threads: int, name: str) -> dict | None:
        row = self.row(workload, threads)
        return row["engines"].get(name) if row else None

    def ratio(self, workload: str, threads: int, pair: tuple[str, str]) -> dict | None:
        """How many times as fast the first of two engines is as the second, with quartiles."""
        if any(self.engine(workload, threads, name) is None for name in pair):
            return None
        return protocol.compare(self.row(workload, threads)["records"], *pair)["ratio"]


def amount(row: dict) -> tuple[float, str]:
    """What a run's seconds are divided by, and the unit."""
    if row["kind"] == "score":
        return row["rows"], "pairs/s"
    return (1 if row["kind"] == "decode" else row["tokens"]), "tokens/s"


def is_latency(row: dict) -> bool:
    """Whether the time of one run says more than how many tokens pass in a second."""
    return row["kind"] == "start" or row["kind"] == "embed" and row["rows"] == 1


def speed_text(row: dict, engine: dict) -> str:
    """4.56 ms, or 5,145: by the median of the runs."""
    seconds = engine["seconds"]["median"]
    if is_latency(row):
        milliseconds = seconds * 1e3
        return f"{milliseconds:.{2 if milliseconds < 10 else 1 if milliseconds < 100 else 0}f} ms"
    rate = amount(row)[0] / seconds
    return f"{rate:,.{2 if rate < 1 else 1 if rate < 100 else 0}f}"
