"""Reads the JUnit file that ctest writes and judges every test in it.

A skipped test is a failed test, unless every reason it gives begins with "hardware:" or "hardware
absent:", that is, unless it names hardware that this machine lacks.
"""

import dataclasses
import pathlib
import re
import xml.etree.ElementTree

# GoogleTest prints "file:line: Skipped" and then the message given to GTEST_SKIP().
_GTEST_SKIP = re.compile(r"^.*: Skipped\n(.*)$", re.MULTILINE)
ALLOWED_SKIP = re.compile(r"hardware(?: absent)?:")


@dataclasses.dataclass
class Outcome:
    """What became of a set of tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0  # for absent hardware only
    failures: list[str] = dataclasses.field(default_factory=list)
    skips: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.skips += other.skips

    @staticmethod
    def success() -> "Outcome":
        return Outcome(passed=1)

    @staticmethod
    def failure(why: str) -> "Outcome":
        return Outcome(failed=1, failures=[why])


def _judge(case: xml.etree.ElementTree.Element) -> tuple[str, str]:
    """("passed" | "failed" | "skipped", reason) of one <testcase>."""
    status = case.get("status")
    output = case.findtext("system-out") or ""
    if status == "run" and case.find("failure") is None and case.find("skipped") is None:
        return "passed", ""
    if status == "fail" or case.find("failure") is not None:
        message = (case.find("failure").get("message") if case.find("failure") is not None else "")
        return "failed", message or "failed"
    reasons = [reason.strip() for reason in _GTEST_SKIP.findall(output)]
    if reasons and all(ALLOWED_SKIP.match(reason) for reason in reasons):
        return "skipped", reasons[0]
    if reasons:
        return "failed", f"skipped for a reason that is not absent hardware: {reasons[0]}"
    skipped = case.find("skipped")
    message = skipped.get("message") if skipped is not None else None
    return "failed", f"not run ({message or status})"


def read(path: pathlib.Path) -> Outcome:
    """The outcome recorded in ctest's JUnit file `path`; a missing or empty file is a failure."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return Outcome.failure(f"ctest wrote no result: {error}")
    outcome = Outcome()
    for case in root.iter("testcase"):
        verdict, reason = _judge(case)
        if verdict == "passed":
            outcome.passed += 1
        elif verdict == "skipped":
            outcome.skipped += 1
            outcome.skips.append(f"{case.get('name')}: {reason}")
        else:
            outcome.failed += 1
            outcome.failures.append(f"{case.get('name')}: {reason}")
    if outcome.passed + outcome.failed + outcome.skipped == 0:
        return Outcome.failure("no test ran")
    return outcome
