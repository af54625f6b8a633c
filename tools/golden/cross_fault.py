"""What the planted cross-encoder faults share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

Plant = Callable[[Any, Any], bool]


@dataclasses.dataclass
class CrossFault:
    """What an engine might do wrong, done to the oracle."""

    name: str
    plant: Plant  # spec, model -> whether it applies to this variant
    of: str = "logits"  # the values that show it: logits, scores or probabilities


def is_official(spec) -> bool:
    return getattr(spec, "official", False)


def backbone(model):
    """The transformer inside a CrossEncoder; None for the published way to use one."""
    return None if not hasattr(model, "activation_fn") else model[0].model


def without_template(_spec, model) -> bool:
    return backbone(model) is not None and "message" not in model[0].modality_config
