#!/usr/bin/env python3
"""The part of ./test that needs Python: chooses the stages, runs them, sums up. See ./test --help."""

import fcntl
import pathlib
import signal
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from junit import Outcome  # noqa: E402
from stage import LOGS, Timer  # noqa: E402
from stages import STAGES, Stage  # noqa: E402


def choose(arguments: list[str]) -> list[Stage]:
    """The stages that the command line asks for, in order, with those they need."""
    known = {stage.name: stage for stage in STAGES}
    if arguments == ["--all"]:
        return STAGES
    if not arguments:
        return [stage for stage in STAGES if stage.always]
    wanted = set()
    for name in arguments:
        if name not in known:
            sys.exit(f"test: no stage '{name}'; stages: {' '.join(known)}")
        wanted |= {name, *known[name].needs}
    return [stage for stage in STAGES if stage.name in wanted]


def run_stage(stage: Stage) -> Outcome:
    """Runs one stage and prints what came of it, with its time."""
    print(f"[{stage.name}] ...", flush=True)
    timer = Timer()
    try:
        outcome = stage.function()
    except Exception as error:  # a fault of these scripts: the other stages still run
        traceback.print_exc(file=sys.stdout)
        outcome = Outcome.failure(f"the stage itself failed: {error!r}")
    if outcome.passed + outcome.failed + outcome.skipped == 0:
        outcome = Outcome.failure("the stage checked nothing")
    for line in outcome.skips:
        print(f"  skipped: {line}")
    for line in outcome.failures:
        print(f"  FAILED: {line}")
    skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
    print(f"[{stage.name}] {outcome.passed} passed, {outcome.failed} failed{skipped} "
          f"({timer.seconds():.1f} s)", flush=True)
    outcome.failures = [f"[{stage.name}] {line}" for line in outcome.failures]
    return outcome


def summary(total: Outcome) -> str:
    """The runner's last line."""
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    return f"{total.passed} passed, {total.failed} failed{skipped}"


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        for stage in STAGES:
            when = "always" if stage.always else "--all"
            print(f"{stage.name:12}{when:8}{stage.function.__doc__.splitlines()[0]}")
        return 0
    stages = choose(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started, as Ctrl-C does
    LOGS.mkdir(parents=True, exist_ok=True)
    lock = open(LOGS / "lock", "w", encoding="utf-8")  # held until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("test: another ./test is running in this checkout; wait for it to end")
    for log in LOGS.glob("*.log"):
        log.unlink()
    timer, total = Timer(), Outcome()
    for stage in stages:
        total.add(run_stage(stage))
    print(f"\n{len(stages)} stages in {timer.seconds():.0f} s")
    for line in total.failures:
        print(f"FAILED: {line}")
    print(summary(total), flush=True)
    return 1 if total.failed or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
