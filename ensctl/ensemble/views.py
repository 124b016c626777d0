"""An ensemble in uniform shapes, whatever shapes it was given in."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array


class UniformViews:
    """Sizes, and gains, weights and feed-through as two-dimensional read-only arrays."""

    lam: Array
    b: Array
    c: Array
    d: float | complex | Array

    @property
    def size(self) -> int:
        """N, the number of members."""
        return int(self.lam.size)

    @property
    def channels(self) -> int:
        """m, the number of input channels."""
        return int(self.gains.shape[1])

    @property
    def outputs(self) -> int:
        """p, the number of aggregate outputs."""
        return int(self.output_weights.shape[0])

    @property
    def gains(self) -> Array:
        """The input gains as (N, m), whatever shape b was given in."""
        return self.b.reshape(self.size, -1)

    @property
    def output_weights(self) -> Array:
        """The output weights as (p, N), whatever shape c was given in."""
        return self.c.reshape(-1, self.size)

    @property
    def feedthrough(self) -> Array:
        """The feed-through as (p, m), whatever shape d was given in."""
        return np.broadcast_to(self.d, (self.outputs, self.channels))

    @property
    def is_real(self) -> bool:
        """Whether λ, b and c are all real."""
        return not any(np.iscomplexobj(values) for values in (self.lam, self.b, self.c))
