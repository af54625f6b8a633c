"""Decay parameters of a Gated DeltaNet layer: its heads forget at different speeds."""

from __future__ import annotations

import numpy as np

SLOW = (0.001, 1.2)  # range of -g, the exponent of the decay, at an input of 0
FAST = (0.5, 60.0)


def decay_parameters(rng: np.random.Generator, heads: int,
                     exponents: tuple[float, float] = SLOW) -> dict[str, np.ndarray]:
    """A_log and dt_bias: exp(A_log) softplus(dt_bias) of the heads covers the range evenly."""
    low, high = np.log(exponents)
    part = (rng.permutation(heads) + rng.uniform(0, 1, heads)) / heads
    bias = rng.uniform(-2, 1, heads)
    return {"A_log": low + (high - low) * part - np.log(np.log1p(np.exp(bias))), "dt_bias": bias}
