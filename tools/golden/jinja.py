#!/usr/bin/env python3
"""Goldens of the chat-template engine, from transformers' own template environment.

    python jinja.py

Renders tests/golden/jinja/templates/*.jinja with the chats of jinja_contexts.py and the small
templates of jinja_features.py, and writes tests/golden/jinja/cases.json:

- `now`: the local time that strftime_now sees;
- `contexts`: name -> variables;
- `templates`: name, `source` (none for those in templates/), and `cases`: context name ->
  {"text": output}, {"raised": message} for raise_exception, {"error": Python's message} for another
  error while rendering, or {"syntax": message} for one while parsing.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils

from jinja_contexts import CHATS, LAB
from jinja_features import FEATURES

GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden/jinja"
NOW = datetime.datetime(2024, 7, 26, 9, 5, 3)


class FixedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def compile_template(source: str) -> jinja2.Template:
    """`source` in the environment that transformers gives chat templates."""
    chat_template_utils.datetime = FixedClock
    return chat_template_utils._compile_jinja_template(source)


def render(source: str, context: dict) -> dict:
    """What the reference makes of a template: its output or its error."""
    try:
        template = compile_template(source)
    except Exception as error:  # folding constants can raise anything
        return {"syntax": str(error)}
    try:
        return {"text": template.render(**context)}
    except jinja2.TemplateError as error:
        if type(error) is jinja2.TemplateError:
            return {"raised": str(error)}
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    templates = []
    for path in sorted((GOLDEN / "templates").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        templates.append({"name": path.stem, "cases": {name: render(source, context)
                                                       for name, context in CHATS.items()}})
    for name, source in FEATURES.items():
        templates.append({"name": name, "source": source, "cases": {"lab": render(source, LAB)}})
    golden = {
        "format": 1,
        "provenance": {"command": "python tools/golden/jinja.py", "jinja2": jinja2.__version__,
                       "transformers": transformers.__version__},
        "now": NOW.isoformat(),
        "contexts": {**CHATS, "lab": LAB},
        "templates": templates,
    }
    with (GOLDEN / "cases.json").open("w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=1)
        file.write("\n")
    kinds = [kind for template in templates for case in template["cases"].values() for kind in case]
    print(f"{len(templates)} templates, {len(kinds)} cases:",
          ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))))


if __name__ == "__main__":
    main()
