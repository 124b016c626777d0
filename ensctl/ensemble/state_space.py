"""An ensemble as a real python-control system: complex members become real 2×2 blocks.

python-control holds real matrices and drives them with real inputs.  Under real inputs, and from
conjugate initial states, a conjugate pair of members moves as two real numbers, and a complex
member without its conjugate moves as two real numbers of its own: ξ = (Re x, Im x) and

    A = [[Re λ, −Im λ], [Im λ, Re λ]],  B = [Re b; Im b].
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ensctl.arguments import Array, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

if TYPE_CHECKING:
    from control import StateSpace

# A is dense: 5000 states are 200 MB.
_MOST_STATES = 5000


@dataclass(frozen=True)
class StateSpaceForm:
    """A real system and how its states and outputs make those of the ensemble.

    Attributes
    ----------
    sys : control.StateSpace
        Real, discrete time, with the dt of the ensemble.
    transform : ndarray, (N, states)
        T in x = T ξ: the members from the states of ``sys``.
    output_transform : ndarray, (p, outputs of sys)
        S in y = S η: the aggregate from the outputs of ``sys``.  The identity, unless the
        aggregate is complex; then ``sys`` has the outputs (Re y, Im y) and S = [I, jI].
    """

    sys: StateSpace
    transform: Array
    output_transform: Array


def to_state_space(ens: Ensemble) -> StateSpaceForm:
    """Convert an ensemble to a real discrete-time system, exactly.

    A real member (λ and b real) is one state.  A pair of members with conjugate λ and conjugate b
    is one 2×2 block at the place of the first of the two, with x = ξ₁ + jξ₂ for the first and
    ξ₁ − jξ₂ for the second.  Any other complex member has a block of its own, x = ξ₁ + jξ₂.

    Parameters
    ----------
    ens : Ensemble
        At most 5000 real states.

    Returns
    -------
    StateSpaceForm

    Raises
    ------
    InvalidInputError
        The dense matrix A would have more than 5000 rows.

    Notes
    -----
    Inputs are real, and the initial states of a pair conjugate.  λ and b are copied, not computed:
    :func:`~ensctl.ensemble.diagonalization.diagonalize` finds members with real λ and b and pairs
    with complex λ bit for bit, a complex λ on its own together with its conjugate.

    Examples
    --------
    >>> import ensctl as ec
    >>> form = ec.Ensemble([0.5, 0.6 + 0.3j], b=[1.0, 2.0]).to_state_space()
    >>> form.sys.A
    array([[ 0.5,  0. ,  0. ],
           [ 0. ,  0.6, -0.3],
           [ 0. ,  0.3,  0.6]])
    >>> form.transform
    array([[1.+0.j, 0.+0.j, 0.+0.j],
           [0.+0.j, 1.+0.j, 0.+1.j]])
    """
    from control import StateSpace

    _require_few(ens.size)
    blocks = _blocks(ens)
    states = sum(1 if first == second else 2 for first, second in blocks)
    _require_few(states)
    A, B = np.zeros((states, states)), np.zeros((states, ens.channels))
    complex_states = len(blocks) < states
    T = np.zeros((ens.size, states), dtype=np.complex128 if complex_states else np.float64)
    row = 0
    for first, second in blocks:
        lam, gains = ens.lam[first], ens.gains[first]
        A[row, row], B[row], T[first, row] = lam.real, gains.real, 1.0
        if first == second:
            row += 1
            continue
        A[row, row + 1], A[row + 1, row], A[row + 1, row + 1] = -lam.imag, lam.imag, lam.real
        B[row + 1], T[first, row + 1] = gains.imag, 1j
        if second is not None:
            T[second, row], T[second, row + 1] = 1.0, -1j
        row += 2
    C, D = ens.output_weights @ T, ens.feedthrough
    S = np.eye(ens.outputs)
    if np.any(np.imag(C)) or np.any(np.imag(D)):
        C, D = np.vstack([C.real, C.imag]), np.vstack([D.real, D.imag])
        S = np.hstack([S, 1j * S])
    sys = StateSpace(A, B, np.real(C), np.real(D), ens.dt, remove_useless_states=False)
    return StateSpaceForm(sys, read_only(T), read_only(S))


def _require_few(states: int) -> None:
    if states > _MOST_STATES:
        raise InvalidInputError(
            f"lam must make at most {_MOST_STATES} states for a dense state-space system, got "
            f"{states}; take a subset"
        )


def _blocks(ens: Ensemble) -> list[tuple[int, int | None]]:
    """Members that share a block: (i, i) a real one, (i, j) a pair, (i, None) one on its own."""
    if ens.is_real:
        return [(i, i) for i in range(ens.size)]
    weights = ens.output_weights.T.astype(np.complex128)
    keys = [
        ((complex(lam), *map(complex, gains)), tuple(c.tolist()))
        for lam, gains, c in zip(ens.lam, ens.gains, weights, strict=True)
    ]
    alone = [any(part.imag != 0 for part in member) for member, _ in keys]
    partner = _partners(keys, alone)
    blocks: list[tuple[int, int | None]] = []
    for i, is_complex in enumerate(alone):
        if not is_complex:
            blocks.append((i, i))
        elif partner.get(i) is None:
            blocks.append((i, None))
        elif partner[i] > i:
            blocks.append((i, partner[i]))
    return blocks


_Key = tuple[tuple[complex, ...], tuple[complex, ...]]


def _partners(keys: list[_Key], is_complex: list[bool]) -> dict[int, int]:
    """Each complex member's conjugate, first one with conjugate c, then any that is free."""
    partner: dict[int, int] = {}
    for with_weights in (True, False):
        waiting: dict[tuple[complex, ...], list[int]] = defaultdict(list)
        for i, (member, c) in enumerate(keys):
            if not is_complex[i] or i in partner:
                continue
            own = member + c if with_weights else member
            conjugate = tuple(value.conjugate() for value in own)
            if waiting[conjugate]:
                j = waiting[conjugate].pop(0)
                partner[i], partner[j] = j, i
            else:
                waiting[own].append(i)
    return partner
