#!/usr/bin/env python3
"""Writes the C++ example of README.md and the output shown below it to files, to be compared.

    scripts/readme_example.py FOLDER

writes FOLDER/readme_example.cc (the first ```cpp block) and FOLDER/readme_example.txt (the ```text
block that follows it).
"""

import pathlib
import re
import sys

EXAMPLE = re.compile(r"^```cpp\n(.*?)^```$.*?^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    blocks = EXAMPLE.search(readme.read_text(encoding="utf-8"))
    if blocks is None or "int main(" not in blocks[1]:
        print("readme_example: README.md has no ```cpp block with a main function that is followed "
              "by a ```text block with its output", file=sys.stderr)
        return 1
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "readme_example.cc").write_text(blocks[1], encoding="utf-8")
    (folder / "readme_example.txt").write_text(blocks[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
