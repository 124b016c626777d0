"""y_t = Σ_i r_i s_t(λ_i) + Σ_i β_i λ_i^t + d u_t as a function of real parameters, with Jacobian.

s_{t+1}(λ) = λ s_t(λ) + u_t from s_0 = 0 is the response of a member with b = 1, r = c b its
residue, β = c x_0 its initial state as the aggregate shows it.  Real data keep conjugate pairs by
one complex λ for two members; complex data have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Data:
    """Scaled samples, T outputs and T inputs, with what is to be explained by an unknown.

    ``complex_data`` says that residuals have a real and an imaginary part.
    """

    outputs: Array
    inputs: Array
    free: bool
    feedthrough: bool
    complex_data: bool

    @property
    def target(self) -> Array:
        """The outputs as real numbers, imaginary parts last."""
        return self.as_rows(self.outputs)

    def as_rows(self, samples: Array) -> Array:
        """Samples along the first axis as real rows."""
        if self.complex_data:
            return np.concatenate([samples.real, samples.imag])
        return np.ascontiguousarray(samples.real)


@dataclass(frozen=True, eq=False)
class Model:
    """Distinct modes z with coefficients; the real parameters are (z, r, β, d) in this order.

    ``pair`` marks modes of real data that stand for themselves and their conjugate.
    """

    data: Data
    modes: Array
    pair: Array

    @property
    def slots(self) -> int:
        """Real numbers for one quantity per mode."""
        if self.data.complex_data:
            return 2 * self.modes.size
        return int(self.modes.size + self.pair.sum())

    @property
    def parameters(self) -> int:
        """Real parameters in all."""
        extra = (2 if self.data.complex_data else 1) if self.data.feedthrough else 0
        return self.slots * (3 if self.data.free else 2) + extra

    def with_modes(self, packed: Array) -> Model:
        """The same layout at other modes, given as real numbers."""
        return Model(self.data, self.unpack(packed), self.pair)

    def unpack(self, packed: Array) -> Array:
        """Real numbers, one or two for each mode, as one complex number for each mode."""
        double = self._double()
        first = np.cumsum(1 + double) - 1 - double
        result = packed[first].astype(complex)
        result[double] += 1j * packed[first[double] + 1]
        return result

    def pack(self, values: Array) -> Array:
        """The inverse of :meth:`unpack`."""
        parts = np.column_stack([values.real, values.imag])
        used = np.column_stack([np.ones(values.size, dtype=bool), self._double()])
        return np.asarray(parts[used])

    def _double(self) -> Array:
        return np.full(self.modes.size, True) if self.data.complex_data else self.pair

    def _expand(self, columns: Array) -> Array:
        """Derivatives by the real numbers of each mode from complex ones by the mode."""
        data = self.data
        if not data.complex_data and not self.pair.any():
            return np.ascontiguousarray(columns.real)
        rows: list[Array] = []
        for k in range(columns.shape[1]):
            column = columns[:, k]
            if data.complex_data:
                rows += [data.as_rows(column), data.as_rows(1j * column)]
            elif self.pair[k]:
                rows += [2 * column.real, -2 * column.imag]
            else:
                rows.append(column.real)
        return np.column_stack(rows)

    def responses(self) -> tuple[Array, Array | None]:
        """(s_t) and, where initial states are free, (λ^t), one column for each mode."""
        data = self.data
        forced = self._filtered(np.broadcast_to(data.inputs[:, None], self._shape()), 0)
        if not data.free:
            return forced, None
        start = np.zeros(self._shape())
        start[0] = 1.0
        return forced, self._filtered(start, 1)

    def _shape(self) -> tuple[int, int]:
        return self.data.outputs.size, self.modes.size

    def _filtered(self, sources: Array, direct: int) -> Array:
        """Columns v with v_{t+1} = z v_t + source_t, or v_t = z v_{t−1} + source_t if direct."""
        from scipy.signal import lfilter

        numerator = np.array([1.0, 0.0] if direct else [0.0, 1.0])
        real = not self.data.complex_data and not self.pair.any()
        modes = self.modes.real if real else self.modes
        columns = [
            lfilter(numerator, np.array([1.0, -z]), sources[:, k]) for k, z in enumerate(modes)
        ]
        return np.column_stack(columns)

    def linear(self, forced: Array, natural: Array | None) -> Array:
        """Columns of the residues, initial states and feed-through."""
        blocks = [self._expand(forced)]
        if natural is not None:
            blocks.append(self._expand(natural))
        if self.data.feedthrough:
            u = self.data.inputs
            blocks.append(self.data.as_rows(u)[:, None])
            if self.data.complex_data:
                blocks.append(self.data.as_rows(1j * u)[:, None])
        return np.hstack(blocks)

    def jacobian(self, coefficients: Array, forced: Array, natural: Array | None) -> Array:
        """Derivatives of the fitted outputs by all real parameters."""
        linear = self.linear(forced, natural)
        residues, initial = self.split(coefficients)
        by_mode = residues * self._filtered(forced, 0)
        if natural is not None:
            by_mode = by_mode + initial * self._filtered(natural, 0)
        return np.hstack([self._expand(by_mode), linear])

    def split(self, coefficients: Array) -> tuple[Array, Array]:
        """Residues and initial states, complex, one for each mode."""
        residues = self.unpack(coefficients[: self.slots])
        if not self.data.free:
            return residues, np.zeros(self.modes.size)
        return residues, self.unpack(coefficients[self.slots : 2 * self.slots])


def model_at(data: Data, poles: Array) -> Model:
    """The layout that fits these poles: conjugates paired for real data."""
    if data.complex_data:
        return Model(data, poles.astype(complex), np.zeros(poles.size, dtype=bool))
    upper = poles[poles.imag > 0]
    real = poles[poles.imag == 0]
    modes = np.concatenate([real, upper]).astype(complex)
    return Model(data, modes, np.arange(modes.size) >= real.size)
