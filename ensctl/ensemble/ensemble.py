"""The noun of the package: a population of members that all hear the same input."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_scalar, as_vector, read_only
from ensctl.ensemble.identity import closed_under_conjugation, content_hash, same_content
from ensctl.ensemble.shapes import as_feedthrough, as_gains, as_indices, as_names, as_weights
from ensctl.ensemble.views import UniformViews
from ensctl.errors import InvalidInputError
from ensctl.serialization import versioned

if TYPE_CHECKING:
    from control import StateSpace

    from ensctl.ensemble.state_space import StateSpaceForm


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Ensemble(UniformViews):
    """N members x_{i,t+1} = λ_i x_{i,t} + b_i u_t with the aggregate y_t = Σ c_i x_{i,t} + d u_t.

    Every member hears the same input u (one scalar, or m channels).  λ and b are taken as the
    exact doubles they are: two members are equal only if their numbers are.

    Parameters
    ----------
    lam : array_like, (N,)
        Eigenvalues λ, one per member, real or complex.
    b : array_like, (N,) or (N, m)
        Input gains; a scalar stands for all members.
    c : array_like, (N,) or (p, N), optional
        Output weights; a scalar stands for all members.  By default 1/N each, the mean.
    d : scalar or array_like, (p, m)
        Feed-through from the inputs to the aggregate; a scalar stands for all entries.
    dt : float
        Length of a step, > 0, in the unit of time of the caller.
    names : sequence of str, optional
        One name per member, stripped of surrounding white space.  Where a name is missing or
        empty the member is called "member i".

    Attributes
    ----------
    lam, b, c, d, dt, names
        As given, converted: read-only float64 or complex128 arrays (complex numbers whose
        imaginary parts are all zero are stored as real), Python numbers and a tuple.

    Raises
    ------
    InvalidInputError
        An argument is not finite, not numeric, empty, or its shape does not match λ.

    Notes
    -----
    Two ensembles are equal, and hash alike, when all their numbers, shapes and names are; +0.0
    and −0.0 are equal.  Cost of construction O(N (m + p)).

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.Ensemble([0.2, 0.5, 0.8], b=[1.0, 2.0, 0.5], names=["a", "b", "c"])
    >>> ens.size, ens.channels, ens.label(1)
    (3, 1, 'b')
    >>> print(ens)
    Ensemble of 3 members, real, 1 input channel, 1 output, dt = 1
      λ    0.2 … 0.8
      b    0.5 … 2
      c    0.333333, the same for all
      a: λ = 0.2, b = 1
      b: λ = 0.5, b = 2
      c: λ = 0.8, b = 0.5
    """

    lam: Array
    b: Array
    c: Array
    d: float | complex | Array
    dt: float
    names: tuple[str, ...] | None

    def __init__(
        self,
        lam: ArrayLike,
        b: ArrayLike = 1.0,
        c: ArrayLike | None = None,
        d: ArrayLike = 0.0,
        *,
        dt: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        members = as_vector(lam, "lam")
        gains = as_gains(b, members.size)
        weights = as_weights(c, members.size)
        channels = 1 if gains.ndim == 1 else gains.shape[1]
        outputs = 1 if weights.ndim == 1 else weights.shape[0]
        values = {
            "lam": read_only(members),
            "b": read_only(gains),
            "c": read_only(weights),
            "d": as_feedthrough(d, outputs, channels),
            "dt": as_scalar(dt, "dt", above=0.0),
            "names": None if names is None else as_names(names, members.size),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_continuous(
        cls,
        rates: ArrayLike,
        gains: ArrayLike = 1.0,
        dt: float = 1.0,
        *,
        c: ArrayLike | None = None,
        d: ArrayLike = 0.0,
        names: Sequence[str] | None = None,
    ) -> Ensemble:
        """Sample dx_i/dt = a_i x_i + g_i u with a zero-order hold: λ = e^{a dt}, b = g(λ − 1)/a.

        Parameters
        ----------
        rates : array_like, (N,)
            Continuous eigenvalues a in 1/time, real or complex; 0 is an integrator.
        gains : array_like, (N,) or (N, m)
            Continuous gains g; a scalar stands for all members.
        dt : float
            Length of a step, > 0, in the unit of time of the rates.
        c, d, names
            As for :class:`Ensemble`.

        Returns
        -------
        Ensemble

        Raises
        ------
        InvalidInputError
            A value is out of range, or e^{a dt} overflows.

        See Also
        --------
        ensctl.ensemble.discretization.zero_order_hold : the numbers and their accuracy.

        Examples
        --------
        >>> import ensctl as ec
        >>> ec.Ensemble.from_continuous([0.0, -1.0], 1.0, 0.5).b
        array([0.5       , 0.39346934])
        """
        from ensctl.ensemble.discretization import zero_order_hold

        held = zero_order_hold(rates, gains, dt)
        return cls(held.lam, held.b, c, d, dt=dt, names=names)

    @classmethod
    def from_ss(cls, sys: StateSpace) -> Ensemble:
        """Diagonalise a discrete-time python-control system; its modes become the members.

        Parameters
        ----------
        sys : control.StateSpace
            Discrete time; ``dt=True`` (period not said) is read as 1.

        Returns
        -------
        Ensemble
            λ, V⁻¹B and CV with A = VΛV⁻¹; conjugate pairs are exact conjugates.

        Raises
        ------
        InvalidInputError
            Continuous time, no states, or eigenvectors too ill-conditioned to mean anything.

        See Also
        --------
        ensctl.ensemble.diagonalization.diagonalize : also returns V, κ(V) and the error of λ.

        Examples
        --------
        >>> import control, ensctl as ec
        >>> ec.Ensemble.from_ss(control.ss([[0.5, 0], [0, 0.2]], [[1], [2]], [[1, 1]], 0, 1.0)).lam
        array([0.5, 0.2])
        """
        from ensctl.ensemble.diagonalization import diagonalize

        return diagonalize(sys).ensemble

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, format: str | None = None) -> Ensemble:
        """Read an ensemble from a CSV, JSON or TOML file.

        Parameters
        ----------
        path : str or path
            The file, UTF-8 (a byte order mark and CRLF are fine).
        format : {"csv", "json", "toml"}, optional
            By default taken from the suffix, or from the content where the suffix says nothing.

        Returns
        -------
        Ensemble

        Raises
        ------
        FormatError
            The file cannot be read; names the file, the line or key, and what to do.

        See Also
        --------
        ensctl.ensemble.parsing : the formats.

        Examples
        --------
        >>> import ensctl as ec, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "fleet.csv")
        >>> _ = path.write_text("lam,b\\n0.2,1\\n0.5,2\\n")
        >>> ec.Ensemble.from_file(path).b
        array([1., 2.])
        """
        from ensctl.ensemble.parsing import read_ensemble

        return read_ensemble(path, format=format)

    def to_file(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write a CSV, JSON or TOML file that :meth:`from_file` reads back bit for bit.

        Parameters
        ----------
        path : str or path
            The file; it is written to a temporary name in the same folder and renamed.
        format : {"csv", "json", "toml"}, optional
            By default taken from the suffix.

        Raises
        ------
        InvalidInputError
            The suffix names no format, or the file cannot be written.

        Examples
        --------
        >>> import ensctl as ec, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "fleet.json")
        >>> ec.Ensemble([0.1, 0.2 + 0.3j]).to_file(path)
        >>> ec.Ensemble.from_file(path) == ec.Ensemble([0.1, 0.2 + 0.3j])
        True
        """
        from ensctl.ensemble.writing import write_ensemble

        write_ensemble(self, path, format=format)

    def to_ss(self) -> StateSpace:
        """Return the system of :meth:`to_state_space` alone.

        Examples
        --------
        >>> import ensctl as ec
        >>> ec.Ensemble([0.2, 0.5], dt=0.1).to_ss().dt
        0.1
        """
        return self.to_state_space().sys

    def to_state_space(self) -> StateSpaceForm:
        """Return the ensemble as a real discrete-time python-control system, dt included.

        Complex members become real 2×2 blocks; see
        :func:`ensctl.ensemble.state_space.to_state_space`.

        Returns
        -------
        StateSpaceForm
            ``.sys`` (a control.StateSpace), ``.transform`` T in x = T ξ, ``.output_transform`` S
            in y = S η: what the members and the aggregate are, from the states and outputs of
            ``sys``.

        Raises
        ------
        InvalidInputError
            There would be more than 5000 states.

        Examples
        --------
        >>> import ensctl as ec
        >>> ec.Ensemble([0.6 + 0.3j, 0.6 - 0.3j]).to_state_space().sys.A
        array([[ 0.6, -0.3],
               [ 0.3,  0.6]])
        """
        from ensctl.ensemble.state_space import to_state_space

        return to_state_space(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the ensemble as JSON-safe data (``"schema": 1``), as the JSON file holds it."""
        content = {"lam": self.lam, "b": self.b, "c": self.c, "d": self.d}
        return versioned("ensemble", {**content, "dt": self.dt, "names": self.names})

    def compress(self, horizon: int, tol: float = 1e-13) -> Ensemble:
        """The small ensemble with the same aggregate response over ``horizon`` steps.

        Parameters, errors and examples: :func:`ensctl.ensemble.compression.compress`.
        """
        from ensctl.ensemble.compression import compress

        return compress(self, horizon, tol)

    def dual(self) -> Ensemble:
        """Return the ensemble with inputs and outputs exchanged.

        Observing this ensemble is the same question as controlling its dual.

        Returns
        -------
        Ensemble
            Same λ, dt and names; b = (output weights)ᵀ, c = gainsᵀ, d = feed-throughᵀ.
        """
        b = self.output_weights[0] if self.outputs == 1 else self.output_weights.T
        c = self.gains[:, 0] if self.channels == 1 else self.gains.T
        d = self.d.T if isinstance(self.d, np.ndarray) else self.d
        return Ensemble(self.lam, b, c, d, dt=self.dt, names=self.names)

    def subset(self, idx: ArrayLike | slice) -> Ensemble:
        """Return the chosen members, in the order given; their output weights stay as they are.

        Parameters
        ----------
        idx : array_like of int, array_like of bool (N,), or slice
            Which members; negative numbers count from the end.

        Returns
        -------
        Ensemble

        Raises
        ------
        InvalidInputError
            No member is chosen, or one that does not exist.

        Examples
        --------
        >>> import ensctl as ec
        >>> ec.Ensemble([0.2, 0.5, 0.8]).subset([2, 0]).lam
        array([0.8, 0.2])
        """
        chosen = as_indices(idx, self.size)
        names = None if self.names is None else [self.names[i] for i in chosen]
        c = self.c[..., chosen]
        return Ensemble(self.lam[chosen], self.b[chosen], c, self.d, dt=self.dt, names=names)

    def label(self, i: int) -> str:
        """Return the name of member ``i``, or "member i" where it has none."""
        if not -self.size <= i < self.size:
            raise InvalidInputError(f"i must be a member of 0 … {self.size - 1}, got {i}")
        position = int(i) % self.size
        return (self.names[position] if self.names else "") or f"member {position}"

    @cached_property
    def is_conjugate_closed(self) -> bool:
        """Whether the members (λ_i, b_i) are, as a multiset, their own conjugates, exactly."""
        return closed_under_conjugation(self.lam, self.gains)

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return same_content(self, other) if isinstance(other, Ensemble) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return content_hash(self)

    # Copies are made by construction: a pickled array would come back writable.
    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Ensemble, dt=self.dt, names=self.names), (self.lam, self.b, self.c, self.d)

    def __repr__(self) -> str:
        kind = "real" if self.is_real else "complex"
        shape = f"size={self.size}, channels={self.channels}, outputs={self.outputs}"
        return f"Ensemble({shape}, {kind}, dt={self.dt})"

    def __str__(self) -> str:
        from ensctl.ensemble.summary import text_summary

        return text_summary(self)

    def _repr_html_(self) -> str:
        from ensctl.ensemble.summary import html_summary

        return html_summary(self)
