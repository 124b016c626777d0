"""Every member of a fleet checks drafted inputs in one pass."""

from __future__ import annotations

from time import get_clock_info, perf_counter, thread_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, as_vector, read_only
from ensctl.errors import InvalidInputError
from ensctl.simulation.draft_verify.units import Block, Verdict
from ensctl.simulation.fleet_drafting_drafter import FleetDraft, FleetMoment
from ensctl.simulation.fleet_drafting_pass import FleetArrays, block_pass, chosen_engine, prepare
from ensctl.simulation.thermostat_model import DutyModel, initial_fleet_state

Array = NDArray[Any]

# Processor time of this thread: what other programs do does not count.  Some systems tick too
# slowly for it.
clock = thread_time if get_clock_info("thread_time").resolution < 1e-5 else perf_counter


class FleetVerifier:
    """Computes the power that K drafted inputs give with all N members, in one blocked pass.

    Input k commits if and only if |y_j − ŷ_j| ≤ tolerance for every j < k: it was chosen in the
    belief that these powers come true.  So L of K inputs commit, 1 ≤ L ≤ K, by K − 1 tests, and
    there is no bonus; with acceptance α of each test E[L] = (1 − α^K)/(1 − α).

    After L < K the committed inputs are applied again at the beginning of the next pass, while the
    members are in cache anyway; after L = K the state at the end of the pass is kept.

    The members are held here, not in the moments that go round the loop: a moment that is not the
    last one is refused.

    Parameters
    ----------
    model : DutyModel
        N members, from :func:`duty_model`.
    tolerance : float
        In kW, > 0.
    ambient : (T,) array_like or scalar
        Ambient counted from nominal, °C; the last value is held.
    z0 : scalar or (N,)
        Temperatures at t = 0 counted from the set-points, °C.
    engine : str
        "numba", "numpy" or "auto": numba where it is installed.

    Raises
    ------
    InvalidInputError
        A value is out of range.
    MissingDependencyError
        engine="numba" without numba.

    Examples
    --------
    >>> import ensctl as ec
    >>> from ensctl.simulation import FleetDrafter, FleetVerifier
    >>> fleet = ec.ThermostatFleet.draw(1000, seed=1)
    >>> drafter = FleetDrafter(ec.reduced_duty_model(fleet), [fleet.nominal_power] * 10)
    >>> verifier = FleetVerifier(ec.duty_model(fleet), 0.01 * fleet.nominal_power, engine="numpy")
    >>> start = drafter.first()
    >>> verdict = verifier.verify(start, drafter.propose(start, 4))
    >>> verdict.accepted, verdict.state.step
    (4, 4)
    """

    def __init__(
        self,
        model: DutyModel,
        tolerance: float,
        *,
        ambient: ArrayLike = 0.0,
        z0: ArrayLike = 0.0,
        engine: str = "auto",
    ) -> None:
        if not isinstance(model, DutyModel):
            raise InvalidInputError(
                f"model must be a DutyModel, got {type(model).__name__}; "
                f"make one with ec.duty_model(fleet)"
            )
        self.tolerance = as_scalar(tolerance, "tolerance", above=0.0)
        self.engine = chosen_engine(engine)
        self.size = model.size
        self._ambient = np.atleast_1d(as_array(ambient, "ambient", real=True))
        if self._ambient.ndim != 1 or not self._ambient.size:
            raise InvalidInputError(
                f"ambient must be a scalar or (T,), got shape {self._ambient.shape}"
            )
        self._arrays = FleetArrays.of(model)
        self._start = initial_fleet_state(model, z0).z - self._ambient[0]
        self._end = self._start.copy()
        self._pending = np.empty(0)
        self._step = 0
        self._costs: list[tuple[int, int, float]] = []
        self._power: list[Array] = []
        self._expected: list[Array] = []
        prepare(self.engine)

    @property
    def costs(self) -> Array:
        """(n, 3): K, J and the milliseconds of every pass."""
        return np.array(self._costs, dtype=np.float64).reshape(-1, 3)

    @property
    def power(self) -> Array:
        """y of the committed inputs in kW."""
        return read_only(np.concatenate([np.empty(0), *self._power]))

    @property
    def expected(self) -> Array:
        """ŷ of the committed inputs in kW."""
        return read_only(np.concatenate([np.empty(0), *self._expected]))

    @property
    def temperatures(self) -> Array:
        """z at the last committed step, counted from the set-points, °C, (N,)."""
        if self._pending.size:
            # Without drafted inputs the end of the pass is the state after the committed ones.
            self._pass(self._pending[:0])
            self._start, self._end = self._end, self._start
            self._pending = self._pending[:0]
        return read_only(self._start + self._air(self._step, 1)[0])

    def verify(self, state: FleetMoment, block: Block) -> Verdict:
        """Compute, compare, and commit the inputs whose past came true.

        Parameters
        ----------
        state : FleetMoment
            The last moment.
        block : Block
            K ≥ 1 inputs in °C, with a :class:`FleetDraft` as evidence.

        Returns
        -------
        Verdict
            N powers in a row within the tolerance, min(N + 1, K) inputs, the next moment.

        Raises
        ------
        InvalidInputError
            No inputs, inputs that are not finite, predictions that do not match, an old moment.
        """
        inputs, draft = self._checked(state, block)
        begin = clock()
        power = self._pass(inputs)
        self._costs.append((inputs.size, self._pending.size, 1e3 * (clock() - begin)))
        missed = np.abs(power - draft.power) > self.tolerance
        accepted = int(missed.argmax()) if missed.any() else inputs.size
        length = min(accepted + 1, inputs.size)
        kept = read_only(inputs[:length])
        if length == inputs.size:
            self._start, self._end = self._end, self._start
            self._pending = inputs[:0]
        else:
            self._pending = kept
        self._step += length
        self._power.append(power[:length])
        self._expected.append(draft.power[:length])
        moment = FleetMoment(self._step, kept, read_only(power[:length]), draft.drafter)
        return Verdict(accepted, kept.tolist(), moment)

    def _pass(self, inputs: Array) -> Array:
        sequence = np.concatenate([self._pending, inputs])
        air = self._air(self._step - self._pending.size, sequence.size + 1)
        return block_pass(
            self._arrays,
            self._start,
            self._end,
            sequence - air[:-1],
            air[:-1] - air[1:],
            self._pending.size,
            self.engine,
        )

    def _air(self, begin: int, count: int) -> Array:
        return self._ambient[np.minimum(np.arange(begin, begin + count), self._ambient.size - 1)]

    def _checked(self, state: FleetMoment, block: Block) -> tuple[Array, FleetDraft]:
        if not isinstance(state, FleetMoment) or state.step != self._step:
            at = state.step if isinstance(state, FleetMoment) else type(state).__name__
            raise InvalidInputError(
                f"state must be the moment after step {self._step}, where the fleet is, got {at}; "
                "make a new FleetVerifier to start again"
            )
        if not len(block.units):
            raise InvalidInputError(
                "block must hold at least one input, got none; inputs come from the drafter, so "
                "depth must be ≥ 1 (K = 1 is the loop that checks every step)"
            )
        inputs = as_vector(block.units, "block.units", real=True)
        draft = block.evidence
        if not isinstance(draft, FleetDraft):
            raise InvalidInputError(
                f"block.evidence must be a FleetDraft with the predicted powers, got "
                f"{type(draft).__name__}"
            )
        as_vector(draft.power, "block.evidence.power", size=inputs.size, real=True)
        return inputs, draft
