"""lattice beside its peers: measures, and writes JSON, Markdown and a chart.

    bench/peers/run [--workloads 'minilm/*,*/32x128'] [--engines 'lattice-*,onnxruntime-*']
                    [--threads 1,2] [--quick] [--resume] [--publish] ...

bench/peers/run makes the Python environment and lattice's worker, and then calls this script with
the same options. README.md beside it says how a number comes about.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import chart
import engines
import machine
import models
import report
import results
import workloads
from measure import Effort, measure, say
from process import Place
from rows import make_rows

REPO = Path(__file__).resolve().parents[2]
QUICK = Effort(rounds=2, limit_s=240, warm_up_s=0.2, turn_s=0.05)


def arguments() -> argparse.Namespace:
    effort = Effort()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", help="names or patterns, separated by commas; see --list")
    parser.add_argument("--engines", default="*", help="the same for engines")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=effort.rounds)
    parser.add_argument("--limit", type=float, default=effort.limit_s, metavar="SECONDS",
                        help="begin no round that would end later than this (default: 600)")
    parser.add_argument("--batch-size", type=int, default=32,
                        help="most rows that the peers compute together (default: 32)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true",
                        help="two rounds, few rows: whether everything works, not how fast")
    parser.add_argument("--resume", action="store_true",
                        help="keep what the output directory has, and measure the rest")
    parser.add_argument("--report", action="store_true",
                        help="measure nothing: write the reports of what was measured")
    parser.add_argument("--publish", action="store_true",
                        help="write docs/performance.md and docs/images/performance.svg too")
    parser.add_argument("--list", action="store_true", help="names of workloads and engines")
    parser.add_argument("--lattice", type=Path,
                        default=REPO / "build" / "bench" / "bench" / "peer_worker")
    parser.add_argument("--output", type=Path, default=REPO / "build" / "peers")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "lattice-bench",
                        help="for models and their exported forms")
    args = parser.parse_args()
    if args.workloads is None:
        args.workloads = workloads.QUICK if args.quick else "*"
    return args


def run_one(args: argparse.Namespace, workload: workloads.Workload, threads: int) -> dict:
    available = sorted(os.sched_getaffinity(0))
    if threads > len(available):
        raise SystemExit(f"--threads {threads}: only {len(available)} CPUs may be used")
    model_dir = models.directory_of(workload.model, args.cache)
    work = {**make_rows(workload, model_dir, args.seed), "output": workload.output,
            "kind": "embed" if workload.kind == "start" else workload.kind}
    cache = args.cache / "engines" / models.identity(model_dir, machine.versions())
    cache.mkdir(parents=True, exist_ok=True)
    place = Place(model_dir, workload.engine_kind, threads, cache, args.batch_size,
                  args.lattice, frozenset(available[:threads]))
    effort = QUICK if args.quick else Effort(args.rounds, args.limit)
    os.sched_setaffinity(0, place.cpus)  # the canary must feel what the engines feel
    try:
        row = measure(workload, engines.select(args.engines), work, place, effort,
                      args.output / "errors.log")
        return {**row, "matrix_elements": models.matrix_elements(model_dir)}
    finally:
        os.sched_setaffinity(0, set(available))


def write_reports(args: argparse.Namespace, found: dict) -> None:
    """The page and the chart in the output directory, and where the documentation has them."""
    picture = chart.svg(found)
    targets = [(args.output, "performance.svg")]
    if args.publish:
        targets.append((REPO / "docs", "images/performance.svg"))
    for folder, image in targets:
        (folder / image).parent.mkdir(parents=True, exist_ok=True)
        (folder / image).write_text(picture)
        (folder / "performance.md").write_text(report.markdown(found, image))


def main() -> None:
    args = arguments()
    if args.list:
        print("workloads:", *(workload.name for workload in workloads.ALL), sep="\n  ")
        print("engines:", *(spec.name for spec in engines.ALL), sep="\n  ")
        return
    args.output.mkdir(parents=True, exist_ok=True)
    file = results.Results(args.output / "results.json", args.resume or args.report)
    if not args.report:
        file.data |= {"machine": machine.describe(), "command": sys.argv[1:],
                      "quick": args.quick}
    selected = [] if args.report else workloads.select(args.workloads)
    for workload in selected:
        workload = workloads.quick(workload) if args.quick else workload
        for threads in (int(value) for value in args.threads.split(",")):
            names = [spec.name for spec in engines.select(args.engines)]
            if args.resume and file.has(workload.name, threads, names):
                continue
            say(f"{workload.name}, {threads} thread{'s' if threads > 1 else ''}")
            file.add(run_one(args, workload, threads))
    write_reports(args, file.data)
    print((args.output / "performance.md").read_text())


if __name__ == "__main__":
    main()
