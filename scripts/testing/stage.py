"""Running commands for the stages of ./test: logged, timed, bounded."""

import os
import pathlib
import signal
import subprocess
import time

from junit import Outcome

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOGS = ROOT / "build" / "logs"
JOBS = len(os.sched_getaffinity(0))
TAIL_LINES = 60


def run(name: str, command: list[str], timeout: float = 3600, env: dict[str, str] | None = None,
        cwd: pathlib.Path = ROOT) -> tuple[int, str]:
    """Runs `command` with its output appended to build/logs/NAME.log; the exit code and the output.

    A command that outlives `timeout` seconds is ended with everything it started; its code is 124.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{name}.log"
    with open(path, "ab") as log:
        log.write(f"$ {' '.join(map(str, command))}\n".encode())
        log.flush()
        begin = log.tell()
        try:
            process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, env={**os.environ, **(env or {})},
                                       start_new_session=True)
        except OSError as error:
            log.write(f"{error}\n".encode())
            return 127, str(error)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.write(f"\nended after {timeout:.0f} s\n".encode())
            code = 124
        except BaseException:  # Ctrl-C: leave nothing running
            os.killpg(process.pid, signal.SIGKILL)
            raise
    with open(path, "rb") as log:
        log.seek(begin)
        return code, log.read().decode(errors="replace")


def show_tail(output: str) -> None:
    """The end of a failed command's output."""
    for line in output.splitlines()[-TAIL_LINES:]:
        print(f"  | {line}")


def check(name: str, what: str, command: list[str], **options) -> Outcome:
    """One check: passes if `command` exits 0, otherwise shows the end of its output."""
    code, output = run(name, command, **options)
    if code == 0:
        return Outcome.success()
    show_tail(output)
    return Outcome.failure(f"{what} (exit code {code}, build/logs/{name}.log)")


class Timer:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._start
