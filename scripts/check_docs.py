#!/usr/bin/env python3
"""Checks that every relative link in the Markdown files leads to a file, and every anchor to a heading.

    scripts/check_docs.py [ROOT]
"""

import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(\s*([^)\s]+)\s*\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
IGNORED = {"build", "models", ".git"}


def anchors(path: pathlib.Path) -> set[str]:
    """The anchors that a Markdown viewer gives the headings of `path`."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(words.replace(" ", "-"))
    return found


def check(root: pathlib.Path) -> tuple[list[str], int]:
    """Broken links as printable lines, and the number of links looked at."""
    problems, count = [], 0
    for path in sorted(root.rglob("*.md")):
        if IGNORED & set(path.relative_to(root).parts):
            continue
        text = FENCE.sub("", path.read_text(encoding="utf-8"))
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue  # another site: not checked, so that the check needs no network
            count += 1
            name, _, anchor = target.partition("#")
            file = path.parent / name if name else path
            if not file.exists():
                problems.append(f"{path.relative_to(root)}: {target}: no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                problems.append(f"{path.relative_to(root)}: {target}: no such heading")
    return problems, count


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    problems, count = check(root)
    for line in problems:
        print(line)
    print(f"check_docs: {count} links, {len(problems)} broken")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
