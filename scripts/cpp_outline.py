"""A rough outline of a C++ file: its functions with their lines and parameter counts.

Not a parser: comments, strings and preprocessor lines are blanked out and braces are matched, which
is enough to measure code that clang-format has laid out. Used by check_style.py.
"""

import dataclasses
import re


@dataclasses.dataclass
class Function:
    """One function body found in a file."""

    name: str
    first_line: int  # of the signature
    last_line: int  # of the closing brace
    num_parameters: int

    @property
    def num_lines(self) -> int:
        return self.last_line - self.first_line + 1


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"([^()\\ ]{0,16})\(.*?\)\1"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'  # strings
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",  # characters, but not digit separators
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_NOT_A_FUNCTION = re.compile(r"^(?:namespace|extern|enum|class|struct|union|concept)\b")


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def blank(text: str) -> str:
    """`text` with comments, literals and preprocessor lines replaced by spaces, line for line."""
    text = _TOKEN.sub(lambda m: _spaces(m[0]), text)
    return _DIRECTIVE.sub(lambda m: _spaces(m[0]), text)


def _parameters(signature: str) -> tuple[str, int] | None:
    """Name and number of parameters of `signature`, or None if it is not a function's."""
    start = signature.find("(")
    if start <= 0:
        return None
    name = re.search(r"(operator\s*\S+|operator\s*\(\s*\)|~?\w+)\s*$", signature[:start])
    if name is None or name[1] in {"if", "for", "while", "switch", "catch", "alignas", "requires"}:
        return None
    if name[1].startswith("operator") and signature[start:].startswith("()"):
        start = signature.find("(", start + 2)
    depth, commas, content = 0, 0, ""
    for position in range(start, len(signature)):
        char = signature[position]
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif char == "," and depth == 1:
            commas += 1
        content += char if depth else ""
    empty = content[1:].strip() in ("", "void")
    return name[1], 0 if empty else commas + 1


def _header(text: str, start: int, brace: int) -> tuple[str, int]:
    """The declaration before the brace at `brace`, without templates and labels; its position."""
    chunk = text[start:brace]
    skipped = len(chunk) - len(chunk.lstrip())
    while match := re.match(r"\s*(?:public|private|protected)\s*:(?!:)", chunk[skipped:]):
        skipped += match.end()
        skipped += len(chunk[skipped:]) - len(chunk[skipped:].lstrip())
    return chunk[skipped:].strip(), start + skipped


def _strip_template(header: str) -> str:
    """`header` without leading template<...>, attributes and macros such as HWY_ATTR."""
    header = header.strip()
    while match := re.match(r"template\s*<", header):
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(header)):
            depth += {"<": 1, ">": -1}.get(header[end], 0)
            if depth == 0:
                break
        header = header[end + 1:].strip()
        header = re.sub(r"^requires\b.*?(?=\b(?:static|inline|constexpr|auto|void|\w+)\b\s+\w)", "",
                        header, count=1)
    return re.sub(r"^(?:\[\[[^\]]*\]\]\s*)+", "", header).strip()


def functions(text: str) -> list[Function]:
    """The functions defined at namespace or class scope in a file with the content `text`."""
    text = blank(text)
    found, stack, start = [], [], 0  # stack of (opens a scope?, Function or None)
    paren = 0
    for position, char in enumerate(text):
        if char in "()":
            paren += 1 if char == "(" else -1
        elif char == ";" and paren == 0:
            start = position + 1
        elif char == "{":
            in_scope = paren == 0 and all(scope for scope, _ in stack)
            header, at = _header(text, start, position)
            header = _strip_template(header)
            if not in_scope or header.endswith(("=", ",", "return")):
                stack.append((False, None))
            elif _NOT_A_FUNCTION.match(header) and not re.search(r"\)\s*$", header):
                stack.append((True, None))
                start = position + 1
            else:
                signature = _parameters(header)
                function = signature and Function(
                    signature[0], text.count("\n", 0, at) + 1, 0, signature[1])
                stack.append((False, function))
        elif char == "}" and stack:
            scope, function = stack.pop()
            if function is not None:
                # an initialiser list (: a_{1}, b_{2}) {...} has braces before the body's own
                rest = text[position + 1:position + 200].lstrip()
                if rest.startswith((",", "{")):
                    continue
                function.last_line = text.count("\n", 0, position) + 1
                found.append(function)
            if scope or all(s for s, _ in stack):
                start = position + 1
    return found
