"""The JSON file of what was measured, rewritten after every workload. Standard library only."""

from __future__ import annotations

import json
import os
from pathlib import Path

FORMAT = 2


class Results:
    """What one or several runs measured; the last one of a workload counts."""

    def __init__(self, path: Path, keep: bool) -> None:
        self.path = path
        self.data: dict = {"format": FORMAT, "measurements": []}
        if keep and path.exists():
            self.data = json.loads(path.read_text())
            if self.data.get("format") != FORMAT:
                raise SystemExit(f"{path}: format {self.data.get('format')}, expected {FORMAT}")

    def has(self, workload: str, threads: int, names: list[str]) -> bool:
        """Whether all of these engines were measured, or could not be."""
        for row in self.data["measurements"]:
            if (row["workload"], row["threads"]) == (workload, threads):
                return set(names) <= set(row["engines"]) | set(row["unavailable"])
        return False

    def add(self, measurement: dict) -> None:
        key = (measurement["workload"], measurement["threads"])
        others = [row for row in self.data["measurements"]
                  if (row["workload"], row["threads"]) != key]
        self.data["measurements"] = [*others, measurement]
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(self.data, indent=1) + "\n")
        os.replace(partial, self.path)
