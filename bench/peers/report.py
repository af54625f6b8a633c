"""The Markdown page of what was measured. Standard library only."""

from __future__ import annotations

from pathlib import Path

import engines
import goals
import models
from found import Found, amount, is_latency, speed_text

MIB = 1 << 20


def label(name: str) -> str:
    return next((spec.label for spec in engines.ALL if spec.name == name), name)


def ordered(rows: list[dict]) -> list[str]:
    """The engines that ran in any of the rows, in the order of engines.ALL."""
    ran = {name for row in rows for name in row["engines"]}
    return [spec.name for spec in engines.ALL if spec.name in ran]


def cell(row: dict, name: str) -> str:
    """Speed, and the ratio to the row's base with quartiles; ~ marks a noisy one."""
    engine = row["engines"].get(name)
    if engine is None:
        return "-"
    text, ratio = speed_text(row, engine), engine["ratio"]
    if name != row["base"]:
        text += f", {ratio['median']:.2f} [{ratio['q1']:.2f}, {ratio['q3']:.2f}]"
    return f"{text} ~" if engine["noisy"] else text


def heading(row: dict) -> str:
    shape = row["workload"].split("/")[1]
    return shape if is_latency(row) else f"{shape}, {amount(row)[1]}"


def accuracy_cells(rows: list[dict], name: str) -> str:
    """The worst over the rows."""
    found = [row["engines"][name]["accuracy"] for row in rows
             if "accuracy" in row["engines"].get(name, {})]
    if not found:
        return "- | - | -"
    greatest = f"{max(value['max_abs'] for value in found):.1e}"
    if "mean_kl" in found[0]:
        mean, same = max(v["mean_kl"] for v in found), min(v["top1"] for v in found)
        return f"KL {mean:.1e} | top-1 {same:.1%} | {greatest}"
    least = min(value["min_cosine"] for value in found)
    mean = min(value["mean_cosine"] for value in found)
    return f"{least:.6f} | {mean:.6f} | {greatest}"


def speed_table(rows: list[dict]) -> list[str]:
    """Engines by workloads, of one model on so many threads."""
    generates = any(row["kind"] in ("prefill", "decode") for row in rows)
    names = ("divergence", "likeliest token") if generates else ("min cosine", "mean cosine")
    head = ["engine", *(heading(row) for row in rows), *names, "max difference"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in ordered(rows):
        cells = " | ".join(cell(row, name) for row in rows)
        lines.append(f"| {label(name)} | {cells} | {accuracy_cells(rows, name)} |")
    return lines


def start_table(row: dict) -> list[str]:
    """Fresh processes."""
    lines = ["| engine | cold start to first vector | of that loading | peak memory |",
             "|---|---|---|---|"]
    for name in ordered([row]):
        engine = row["engines"][name]
        lines.append(f"| {label(name)} | {cell(row, name)} | {engine['load_s'] * 1e3:.0f} ms | "
                     f"{engine['peak_rss_bytes'] / MIB:.0f} MiB |")
    return lines


def model_section(found: Found, model: str) -> list[str]:
    lines = [f"## {models.WHAT[model]}", ""]
    names = [name for name in found.names() if name.split("/")[0] == model]
    for threads in found.threads():
        rows = [row for name in names if (row := found.row(name, threads)) and row["engines"]]
        turns = [row for row in rows if row["kind"] != "start"]
        if not rows:
            continue
        lines += [f"{threads} thread{'s' if threads > 1 else ''}:", ""]
        if turns:
            lines += [*speed_table(turns), ""]
        for row in rows:
            if row["kind"] == "start":
                lines += [*start_table(row), ""]
    return lines


def rounds_section(found: Found) -> list[str]:
    """How often each workload was measured, and where that is less than was wanted."""
    lines = ["| workload | threads | rounds | fewest steady ones | ratios are to |",
             "|---|---|---|---|---|"]
    for name in found.names():
        for threads in found.threads():
            row = found.row(name, threads)
            if row is None or not row["engines"]:
                continue
            count = f"{row['rounds']}"
            if row["rounds"] < row["rounds_wanted"]:
                count += f" of {row['rounds_wanted']}: the time limit was reached"
            steady = min(engine["steady_rounds"] for engine in row["engines"].values())
            lines.append(f"| {name} | {threads} | {count} | {steady} | {label(row['base'])} |")
    return lines


def unavailable_section(found: Found) -> list[str]:
    """Which engine could not do what, and why; nothing is estimated."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in found.names():
        for threads in found.threads():
            row = found.row(name, threads)
            for engine, reason in (row or {}).get("unavailable", {}).items():
                places = reasons.setdefault((engine, reason), [])
                if name not in places:
                    places.append(name)
    if not reasons:
        return []
    lines = ["## What could not be measured", "", "| engine | workloads | reason |",
             "|---|---|---|"]
    for (engine, reason), places in reasons.items():
        shown = ", ".join(places) if len(places) < len(found.names()) else "all"
        lines.append(f"| {label(engine)} | {shown} | {reason.replace('|', '/')} |")
    return [*lines, ""]


def introduction(data: dict, image: str | None) -> list[str]:
    picture = [f"![Speed of lattice and its peers]({image})", ""] if image else []
    machine = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    warning = ["**A quick run: it shows that everything works, not how fast it is.**", ""]
    return ["# Performance", "", *(warning if data.get("quick") else []), *picture,
            f"{machine['cpu']} ({', '.join(machine['flags'])}), {machine['usable_cpus']} CPUs, "
            f"Linux {machine['kernel']}. lattice {machine['lattice']}; Python "
            f"{machine['python']}, {versions}.", "",
            "```sh", f"bench/peers/run {' '.join(data['command'])}".rstrip(), "```", "",
            "Every engine has the same weights, the same token ids and the same pinned threads, "
            "and takes turns with the others. A cell has the median, and the speed as a multiple "
            "of the base's (above 1: faster): the median of the ratios of each round, with "
            "quartiles. `~` marks noise: fewer than five rounds were steady. Cosines and "
            "differences are the worst of all shapes, measured from PyTorch's vectors in float32 "
            "of each text alone. How a number comes about: "
            "[bench/peers](../bench/peers/README.md).", ""]


def markdown(data: dict, image: str | None = None) -> str:
    """The page; `image` is the chart's address on it."""
    found = Found(data)
    lines = introduction(data, image)
    present = {name.split("/")[0] for name in found.names()}
    for model in models.WHAT:
        if model in present:
            lines += model_section(found, model)
    lines += ["## Goals", "", f"On {goals.THREADS} threads. Times and rates were set for a "
              "processor with AVX-512, VNNI and BF16; ratios hold for any.", "",
              *goals.table(found), "",
              Path(__file__).with_name("reasons.md").read_text()]
    lines += [*unavailable_section(found), "## Rounds", "", *rounds_section(found)]
    return "\n".join(lines) + "\n"
