"""The stages of ./test. Each is a function that returns an Outcome; STAGES lists them in order."""

import dataclasses
import pathlib
import platform
import shutil
import sys
from collections.abc import Callable

import junit
from junit import Outcome
from stage import JOBS, ROOT, check, run, show_tail

BUILD = ROOT / "build"
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


# What the stage arm64 leaves out on the processor with every extension, to end in minutes. Every kernel
# runs on the other one; here matrix products alone, which alone have code for the extensions. Of the
# goldens those of a few models of each family remain.
ARM64_EXCLUDED = [
    r"/reference", r"^Backends/",  # the specification; the best target once more
    r"^neon/", r"^neon(dotprod|i8mm|bf16)/Backends/([^L]|La)",  # run on the other processor
    r"^Variants/TinyModel\.(Comp|EmbedsG)", r"^Variants/GenerationGoldenTest\.Taps",
    r"^Variants/Generation.*/cpu_([^qt]|tied_)", r"^GenerationQ8",
    r"^Variants/Cross.*/cpu_(bert_[^1]|camem|roberta_3|xlmr_i|qwen3_(causal|logit|official_u|seq_cls_))",
    r"minilm", r"^Models/RealModel", r"^Retrieval",  # minutes each: tiny models compute the same
    # Text generation keeps its goldens; what the generator does with them is no target's.
    r"^(Generator|MtpSpeculation|PerplexityWindows|GenerationFieldBugs|PlantedFault|CrossFieldBugs)",
    r"ChatSession", r"DecoderRewind", r"^StreamDecoder\.Random",
    r"Time", r"IsFast", r"Plateau",  # of seconds and of memory, which are the emulator's
    r"^hub_cli", r"^SamplerStatistics", r"^WordScanner\.Equals",
]


# What the stage gcc leaves out: minutes of the same on real texts, of time and of transfers.
GCC_EXCLUDED = r"^Retrieval|^RealModel|Time|Plateau|^FaultTest|^SamplerStatistics|^WordScanner"


def build(preset: str) -> Outcome:
    """Configures and builds a preset: one check."""
    code, output = run(f"build-{preset}", ["cmake", "--preset", preset])
    if code == 0:
        code, output = run(f"build-{preset}", ["cmake", "--build", "--preset", preset, "-j", str(JOBS)])
    if code == 0:
        return Outcome.success()
    show_tail(output)
    return Outcome.failure(f"build of preset {preset} (build/logs/build-{preset}.log)")


def ctest(preset: str, name: str, selection: list[str],
          env: dict[str, str] | None = None) -> Outcome:
    """Runs the tests of a built preset; each test counts."""
    result = BUILD / "logs" / f"{name}.xml"
    result.unlink(missing_ok=True)
    code, output = run(name, [
        "ctest", "--test-dir", str(BUILD / preset), "-j", str(JOBS), "--output-on-failure",
        "--no-tests=error", "--timeout", "900", "--output-junit", str(result),
        "--test-output-size-passed", "65536", "--test-output-size-failed", "65536",
        *selection], env={**SANITIZER_ENV, **(env or {})})
    outcome = junit.read(result)
    if code != 0 and outcome.failed == 0:
        outcome.add(Outcome.failure(f"ctest ended with code {code} (build/logs/{name}.log)"))
    if outcome.failed:
        show_tail(output)
    return outcome


def build_and_test(preset: str, selection: tuple[str, ...] = ("-LE", "slow"),
                   name: str | None = None) -> Outcome:
    """The tests of `selection` built with a preset, and their results under `name`."""
    outcome = build(preset)
    if outcome.failed == 0:
        outcome.add(ctest(preset, name or f"test-{preset}", list(selection)))
    return outcome


def model() -> Outcome:
    """The real model that tests use."""
    return check("model", "fetching the model", ["scripts/fetch_model.sh"])


def checks() -> Outcome:
    """Layers, house style, formatting, and the tests of the Python programs."""
    python = sys.executable
    outcome = check("checks", "include layers", [python, "scripts/check_layers.py"])
    outcome.add(check("checks", "house style", [python, "scripts/check_style.py"]))
    outcome.add(check("checks", "tests of the scripts",
                      [python, "-m", "unittest", "discover", "-s", "scripts/tests"]))
    outcome.add(check("checks", "tests of the peer benchmark",
                      [python, "-m", "unittest", "discover", "-s", "bench/peers/tests"]))
    outcome.add(check("checks", "formatting (clang-format-19 -i on the files named)",
                      ["scripts/check_format.sh"]))
    outcome.add(check("checks", "public headers compile alone", ["scripts/check_headers.sh"]))
    outcome.add(check("checks", "Objective-C++ against our declarations of Apple's",
                      ["scripts/check_objcxx.sh"]))
    outcome.add(check("checks", "links between documents", [python, "scripts/check_docs.py"]))
    return outcome


def dev() -> Outcome:
    """The default build (clang-19, assertions on) and its tests, the slow ones left out."""
    outcome = build_and_test("dev")
    archive = BUILD / "dev" / "liblattice.a"
    expect = ["--expect-targets"] if platform.machine() == "x86_64" else []
    outcome.add(check("objects", "no vector code outside the target namespaces",
                      [sys.executable, "scripts/check_objects.py", *expect, str(archive)]))
    if expect:
        outcome.add(check("kernel-loops", "inner loops without spills",
                          [sys.executable, "scripts/check_kernel_loops.py", str(archive)]))
    return outcome


def gcc() -> Outcome:
    """Builds all with g++ 12, whose code computes the same: tests of the numbers."""
    # The Metal kernels are compiled by clang in either case.
    return build_and_test("gcc", ("-LE", "slow|metal|cli|fuzz", "-E", GCC_EXCLUDED))


def asan() -> Outcome:
    """The same under AddressSanitizer and UndefinedBehaviorSanitizer."""
    return build_and_test("asan-ubsan")


def tsan() -> Outcome:
    """The same under ThreadSanitizer."""
    return build_and_test("tsan")


def slow() -> Outcome:
    """The tests labelled slow, on the dev build."""
    return build_and_test("dev", ("-L", "slow"), "test-slow")


def instructions() -> Outcome:
    """Counts the instructions of key kernels and of a whole model's call: at most 10 % more."""
    if platform.machine() != "x86_64":
        return Outcome(skipped=1, skips=["hardware: the recorded counts are those of x86-64"])
    outcome = build("dev")
    if outcome.failed == 0:
        probe = BUILD / "dev" / "tests" / "instructions" / "instruction_probe"
        outcome.add(check("instructions", "instruction counts",
                          [sys.executable, "scripts/check_instructions.py", str(probe)]))
    return outcome


def fuzz() -> Outcome:
    """Replays every committed corpus through its fuzzer, with ASan and UBSan: one check each."""
    # The preset fuzz is for finding inputs: it is slower, for it watches what they reach.
    outcome = build("asan-ubsan")
    if outcome.failed:
        return outcome
    fuzzers = sorted(p for p in (BUILD / "asan-ubsan" / "fuzz").glob("fuzz_*")
                     if p.is_file() and p.stat().st_mode & 0o100)
    if not fuzzers:
        outcome.add(Outcome.failure("no fuzzer was built"))
    for fuzzer in fuzzers:
        name = fuzzer.name.removeprefix("fuzz_")
        corpus = ROOT / "fuzz" / "corpus" / name
        if not corpus.is_dir() or not any(corpus.iterdir()):
            outcome.add(Outcome.failure(f"{fuzzer.name} has no corpus in fuzz/corpus/{name}"))
            continue
        outcome.add(check("fuzz", f"replay of fuzz/corpus/{name}",
                          [str(fuzzer), "-runs=0", "-rss_limit_mb=4096", str(corpus)],
                          env=SANITIZER_ENV))
    return outcome


def arm64() -> Outcome:
    """The library for 64-bit Arm in qemu: every kernel on two processors, the unit tests, goldens."""
    outcome = check("arm64", "making the sysroot", ["scripts/arm64_sysroot.sh"])
    if outcome.failed == 0:
        outcome.add(build("arm64"))
    if outcome.failed:
        return outcome
    outcome.add(ctest("arm64", "test-arm64", ["-LE", "slow|cli", "-E", "|".join(ARM64_EXCLUDED)],
                      {"QEMU_CPU": "max"}))
    # Without them an instruction of a later architecture is a crash, and plain NEON must be chosen.
    outcome.add(ctest("arm64", "test-arm64-v8.0", ["-R", r"^(neon/|CpuTarget\.|TileChains)"],
                      {"QEMU_CPU": "cortex-a53"}))
    return outcome


def install() -> Outcome:
    """Installs the release build and uses it from a project of its own, README example included."""
    outcome = build("release")
    if outcome.failed:
        return outcome
    prefix, consumer = BUILD / "installed", BUILD / "consumer"
    for folder in (prefix, consumer):
        shutil.rmtree(folder, ignore_errors=True)
    for what, command in [
        ("cmake --install", ["cmake", "--install", str(BUILD / "release"), "--prefix", str(prefix)]),
        ("extracting the README example",
         [sys.executable, "scripts/readme_example.py", str(consumer)]),
        ("configuring a project with find_package(lattice)",
         ["cmake", "-S", "tests/consumer", "-B", str(consumer), "-G", "Ninja",
          "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=g++",
          f"-DCMAKE_PREFIX_PATH={prefix}"]),
        ("building it", ["cmake", "--build", str(consumer), "-j", str(JOBS)]),
        ("running it", ["ctest", "--test-dir", str(consumer), "--output-on-failure",
                        "--no-tests=error"]),
        ("the installed program", [str(prefix / "bin" / "lattice"), "--version"]),
    ]:
        step = check("install", what, command)
        outcome.add(step)
        if step.failed:
            break  # the later steps need this one
    return outcome


def quickstart() -> Outcome:
    """./quickstart does what the README promises."""
    return check("quickstart", "./quickstart", ["./quickstart"], timeout=1200)


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    function: Callable[[], Outcome]
    always: bool  # part of ./test without --all
    needs: tuple[str, ...] = ()


STAGES = [
    Stage("model", model, always=True),
    Stage("checks", checks, always=True),
    Stage("dev", dev, always=True, needs=("model",)),
    Stage("slow", slow, always=False, needs=("model",)),
    Stage("instructions", instructions, always=False, needs=("model",)),
    Stage("quickstart", quickstart, always=False),
    Stage("install", install, always=False, needs=("model",)),
    Stage("gcc", gcc, always=False, needs=("model",)),
    Stage("asan-ubsan", asan, always=False, needs=("model",)),
    Stage("tsan", tsan, always=False, needs=("model",)),
    Stage("arm64", arm64, always=False, needs=("model",)),
    Stage("fuzz", fuzz, always=False),
]
