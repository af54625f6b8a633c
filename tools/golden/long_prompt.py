"""Long prompts by a recipe that a C++ test computes too."""

from __future__ import annotations

RECIPE = "ids[i] = (7919 * i * i + 104729 * i + 13) % 1000003 % num_ids"


def long_prompt(length: int, num_ids: int) -> list[int]:
    return [(7919 * i * i + 104729 * i + 13) % 1000003 % num_ids for i in range(length)]
