"""What the numbers were measured on. Standard library only."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from engines import ALL

REPO = Path(__file__).resolve().parents[2]
# The extensions that decide which kernels run.
FLAGS = ("avx", "avx2", "fma", "f16c", "avx_vnni", "avx512", "amx", "asimddp", "i8mm", "bf16")


def _cpuinfo(key: str) -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines
                 if line.split(":")[0].strip() == key), "")


def cpu_flags() -> list[str]:
    """Those of this processor's extensions that matter here."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    return sorted(flag for flag in flags
                  if flag in FLAGS or flag.startswith(("avx512", "amx", "avx_vnni")))


def available_bytes() -> int:
    """What a new process may use before this machine runs out of memory."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def versions() -> dict[str, str]:
    """Of every package that is there."""
    found = {}
    for name in sorted({name for spec in ALL for name in spec.packages} | {"numpy"}):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def describe() -> dict:
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=REPO, text=True,
                            capture_output=True, check=False).stdout.strip()
    return {"cpu": _cpuinfo("model name") or platform.processor(), "flags": cpu_flags(),
            "usable_cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "python": platform.python_version(), "versions": versions(), "lattice": commit}
