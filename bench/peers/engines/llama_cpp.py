"""llama.cpp by llama-cpp-python.

The place of its adapter: a subclass of Engine whose export() writes a GGUF file below
setting.cache and whose run() takes the ids of work["ids"]. The package has no wheels on PyPI and
is not in requirements.txt.
"""

from __future__ import annotations

from engines.base import Engine, Setting, Unsupported


class LlamaCpp(Engine):
    kinds = ("embed", "score", "generate")

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        import llama_cpp  # noqa: F401 - its absence is the first reason

        raise Unsupported("no adapter for llama-cpp-python yet")
