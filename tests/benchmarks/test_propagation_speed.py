"""Final states and aggregate outputs of a million members against stepping through time.

The obvious way is the loop ``x *= lam; x += u_t`` in place, with b = 1; for the aggregate it also
takes the mean at every step.  Its cost is proportional to the number of steps, so that it is timed
over part of them.  Where |λ| < 1 a loop over only the inputs that still matter is a second
baseline.  Errors are measured against recursions in extended precision.
"""

import math

import numpy as np
import pytest

from ensctl.ensemble.aggregate_propagation import aggregate_response
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.propagation import final_state, final_states, propagate
from ensctl.ensemble.summation_methods import Method

TIMED_STEPS = 200


@pytest.fixture(scope="module")
def sizes(sized):
    return sized((10**6, 10**4), smoke=(30_000, 500))


@pytest.fixture(scope="module")
def inputs(sizes):
    return np.random.default_rng(1).standard_normal(sizes[1])


def members(kind, count):
    rng = np.random.default_rng(0)
    if kind == "disk":
        return np.sqrt(rng.random(count)) * np.exp(2j * np.pi * rng.random(count))
    if kind == "unit circle":
        return np.exp(2j * np.pi * rng.random(count))
    lo, hi = {"[.1,.9]": (0.1, 0.9), "[-1,1]": (-1.0, 1.0)}[kind]
    return rng.uniform(lo, hi, count)


def step_through(lam, inputs, weights=None):
    state = np.zeros_like(lam)
    for u in inputs.tolist():
        np.multiply(state, lam, out=state)
        np.add(state, u, out=state)
        if weights is not None:
            weights @ state
    return state


def loop_seconds(timed, lam, inputs, weights=None):
    """Seconds of the loop over all inputs, from part of them."""
    part = inputs[:TIMED_STEPS]
    return timed(lambda: step_through(lam, part, weights), repeat=3) * inputs.size / part.size


def steps_that_matter(lam, horizon):
    radius = float(np.abs(lam).max())
    return min(horizon, math.ceil(math.log(1e-17) / math.log(radius))) if radius < 1 else horizon


def exact_states(lam, inputs):
    lam = lam.astype(np.clongdouble if np.iscomplexobj(lam) else np.longdouble)
    state = np.zeros_like(lam)
    for u in inputs:
        state = lam * state + u
    return state


@pytest.mark.parametrize(
    ("kind", "times", "method"),
    [
        ("[.1,.9]", 30, Method.REAL_LINE),
        ("[-1,1]", 15, Method.REAL_LINE),
        ("disk", 5, Method.BLOCKED),
        ("unit circle", 20, Method.UNIT_CIRCLE),
    ],
)
def test_final_state(kind, times, method, sizes, inputs, ratio_table, timed):
    lam = members(kind, sizes[0])
    ens = Ensemble(lam)
    found = propagate(ens, inputs)
    assert found.method is method
    chosen = np.concatenate([np.argsort(-np.abs(lam))[:50], np.arange(150)])
    error = np.abs(found.values[chosen] - exact_states(lam[chosen], inputs)).max()
    largest = np.abs(found.values).max()
    assert error <= min(found.error_bound, 1e-12 * largest)

    ours = timed(lambda: final_state(ens, inputs), repeat=3)
    loop = loop_seconds(timed, lam, inputs)
    label = f"final state, {kind}, error {error / largest:.0e} max|x|"
    ratio_table.add(f"{label}, vs loop", ours, loop, at_most=1 / times)
    matter = steps_that_matter(lam, inputs.size)
    if matter < inputs.size:
        short = timed(lambda: step_through(lam, inputs[-matter:]), repeat=3)
        ratio_table.add(f"final state, {kind}, vs loop over last {matter} inputs", ours, short)


@pytest.mark.parametrize(("kind", "times"), [("[.1,.9]", 30), ("[-1,1]", 20), ("unit circle", 20)])
def test_aggregate_output_once(kind, times, sizes, inputs, ratio_table, timed):
    lam = members(kind, sizes[0])
    ens = Ensemble(lam)
    found = aggregate_response(ens, inputs)
    scale = np.abs(inputs).sum()
    error = 0.0
    for t in (1, inputs.size // 2, inputs.size):
        state = propagate(ens, inputs[:t])
        error = max(error, abs(found.values[t] - state.values.mean()) - state.error_bound)
    assert error <= min(found.error_bound, 1e-12 * scale)

    ours = timed(lambda: aggregate_response(ens, inputs), repeat=3)
    loop = loop_seconds(timed, lam, inputs, ens.c)
    bound = found.error_bound / scale
    label = f"aggregate output, {kind}, bound {bound:.0e} Σ|m| Σ|u|"
    ratio_table.add(f"{label}, vs loop", ours, loop, at_most=1 / times)
    matter = steps_that_matter(lam, inputs.size)
    if matter < inputs.size:
        per_step = loop / inputs.size
        ratio_table.add(
            f"aggregate output, {kind}, vs loop over {matter} inputs", ours, per_step * matter
        )


@pytest.mark.parametrize("kind", ["[-1,1]", "disk"])
def test_scenarios_at_once(kind, sized, ratio_table, timed):
    """A thousand input sequences against a call for each, and against one matrix product."""
    count, horizon, scenarios = sized((20_000, 1000, 1000), smoke=(500, 100, 200))
    lam = members(kind, count)
    ens = Ensemble(lam)
    batch = np.random.default_rng(2).standard_normal((scenarios, horizon))
    together = final_states(ens, batch)
    alone = propagate(ens, batch[7])
    assert np.abs(together[:, 7] - alone.values).max() <= 2.0 * alone.error_bound

    ours = timed(lambda: final_states(ens, batch), repeat=3)
    calls = timed(lambda: [final_state(ens, u) for u in batch[:20]], repeat=3) * scenarios / 20
    label = f"{scenarios} scenarios, {kind}, N = {count}, H = {horizon}"
    ratio_table.add(f"{label}, vs one call each", ours, calls)
    powers = np.ones((count, horizon), dtype=lam.dtype)
    product = timed(lambda: powers @ batch.T, repeat=2)
    ratio_table.add(f"{label}, vs one matrix product", ours, product, at_most=1.0)


def test_against_finufft(sizes, inputs, ratio_table, timed):
    """The other fast way on the unit circle, at its own limit of accuracy."""
    finufft = pytest.importorskip("finufft")
    lam = members("unit circle", sizes[0])
    ens = Ensemble(lam)
    coefs = inputs[::-1].astype(complex)
    half = inputs.size // 2

    def transform():
        angles = np.angle(lam)
        sums = finufft.nufft1d2(angles, coefs, isign=1, eps=1e-14, nthreads=1)
        return sums * np.exp(1j * half * angles)

    exact = exact_states(lam[:100], inputs)
    largest = np.abs(transform()).max()
    theirs = np.abs(transform()[:100] - exact).max() / largest
    mine = np.abs(final_state(ens, inputs)[:100] - exact).max() / largest
    ours = timed(lambda: final_state(ens, inputs), repeat=3)
    other = timed(transform, repeat=3)
    ratio_table.add(
        f"unit circle, error {mine:.0e}, vs finufft, error {theirs:.0e} max|x|", ours, other
    )
    assert mine <= 1e-12
