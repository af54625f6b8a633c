"""Makes every golden file again: python tools/golden/generate.py [--models DIR]."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
REAL_MODELS = ["all-MiniLM-L6-v2"]


def run(*arguments: str) -> None:
    print("+", *arguments, flush=True)
    subprocess.run([sys.executable, str(HERE / arguments[0]), *arguments[1:]], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=REPO / "models",
                        help="folder that holds the real models' directories")
    args = parser.parse_args()
    run("make_texts.py")
    run("tiny.py")
    run("cross.py")
    run("long_context.py")
    run("generation.py")
    run("generation_long.py")
    run("generation_chats.py")
    run("jinja.py")
    run("sampling.py")
    for name in REAL_MODELS:
        directory = args.models / name
        if (directory / "config.json").exists():
            run("real.py", str(directory), "--name", name)
        else:
            print(f"left as it is: {name} (no {directory})")


if __name__ == "__main__":
    main()
