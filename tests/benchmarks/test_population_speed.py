"""A million members: compressed responses and least squares against the obvious ways.

Responses: the in-place numpy loop over all members with b = 1, and for |λ| < 1 the same loop
stopped at the inputs that still matter.  Least squares: QR of all members, streaming in chunks.
"""

import math

import numpy as np
import pytest

from ensctl.ensemble.compression import compress
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.markov import markov_parameters, markov_response
from ensctl.synthesis.population import steer_population

RANGES = {"[.1, .9]": (0.1, 0.9), "[-1, 1]": (-1.0, 1.0)}


def looped(lam, weights, inputs):
    """y_0 … y_H of x ← λ x + u in place."""
    state = np.zeros(lam.size)
    outputs = np.zeros(inputs.size + 1)
    for t, u in enumerate(inputs):
        state *= lam
        state += u
        outputs[t + 1] = weights @ state
    return outputs


def stepped(nodes, gains, inputs):
    """The same with the members of a compressed ensemble, whose output is their sum."""
    state = np.zeros(nodes.size)
    ones = np.ones(nodes.size)
    outputs = np.zeros(inputs.size + 1)
    for t, u in enumerate(inputs):
        state *= nodes
        state += gains * u
        outputs[t + 1] = ones @ state
    return outputs


@pytest.mark.parametrize("name", RANGES)
def test_aggregate_after_compression(name, ratio_table, timed, sized):
    size, horizon = sized(10**6, smoke=10**4), sized(10**4, smoke=100)
    rng = np.random.default_rng(0)
    lam = rng.uniform(*RANGES[name], size)
    ens, inputs = Ensemble(lam), rng.standard_normal(horizon)
    small = compress(ens, horizon)
    parameters = markov_parameters(small, horizon)

    loop = timed(lambda: looped(lam, ens.c, inputs), repeat=1)
    once = timed(lambda: compress(ens, horizon))
    whole = timed(lambda: markov_response(parameters, inputs), repeat=20)
    steps = timed(lambda: stepped(small.lam, small.b, inputs))
    what = f"N = {size}, H = {horizon}, λ in {name}"
    ratio_table.add(f"a new input sequence after compress, {what}", whole, loop, at_most=1e-3)
    ratio_table.add(f"one input at a time after compress, {what}", steps, loop, at_most=5e-3)
    ratio_table.add(f"compress once ({small.size} members), {what}", once, loop)
    largest = float(np.abs(lam).max())
    matter = min(horizon, math.ceil(math.log(1e-17) / math.log(largest)))
    if matter < horizon:
        short = timed(lambda: looped(lam, ens.c, inputs[-matter:]), repeat=1)
        ratio_table.add(f"a whole sequence, vs a loop of {matter} steps for y_H", whole, short)

    truth = looped(lam, ens.c, inputs)
    allowed = 1e-12 * np.abs(inputs).sum()
    assert np.abs(markov_response(parameters, inputs) - truth).max() <= allowed
    assert np.abs(stepped(small.lam, small.b, inputs) - truth).max() <= allowed
    if size >= 10**4:
        assert small.weight_ratio <= 1.05


def triangular(lam, gains, target, horizon, ridge, chunk):
    """min Σ|b p(λ) − target|² + ρ‖u‖² by QR of the powers of all members, chunk by chunk."""
    upper = np.zeros((0, horizon + 1))
    for first in range(0, lam.size, chunk):
        part = slice(first, first + chunk)
        rows = np.empty((lam[part].size, horizon + 1))
        rows[:, horizon - 1] = gains[part]
        for k in range(horizon - 2, -1, -1):
            np.multiply(rows[:, k + 1], lam[part], out=rows[:, k])
        rows[:, horizon] = target[part]
        upper = np.linalg.qr(np.vstack([upper, rows]), mode="r")
    stacked = np.vstack([upper[:, :-1], math.sqrt(ridge) * np.eye(horizon)])
    q, small = np.linalg.qr(stacked)
    return np.linalg.solve(small, q[: len(upper)].T @ upper[:, -1])


def test_least_squares_of_a_population(ratio_table, timed, sized):
    size, horizon = sized(10**6, smoke=10**4), sized(200, smoke=40)
    rng = np.random.default_rng(0)
    lam = rng.uniform(-0.95, 0.95, size)
    gains, target = rng.uniform(0.5, 1.5, size), np.tanh(3 * lam)
    ens = Ensemble(lam, gains)
    rule = min(horizon, math.ceil(math.sqrt(2 * horizon * math.log(2e16))))

    obvious = min(
        timed(lambda c=chunk: triangular(lam, gains, target, horizon, 1e-8, c), repeat=1)
        for chunk in (1024, 4096)
    )
    ways = [
        ("rule's r, chunks of 2048", rule, 2048, 0.1),
        ("rule's r", rule, 65536, 0.1),
        ("r = H", horizon, 65536, 0.125),
        ("default r (the target with numba, without it)", None, 65536, 1 / 30),
    ]
    for what, terms, chunk, at_most in ways:
        ours = timed(
            lambda t=terms, c=chunk: steer_population(ens, target, horizon, terms=t, chunk=c)
        )
        ratio_table.add(
            f"steer_population, N = {size}, H = {horizon}, {what}, vs streaming TSQR",
            ours,
            obvious,
            at_most=at_most,
        )

    plan = steer_population(ens, target, horizon)
    dense = triangular(lam, gains, target, horizon, 1e-8, 4096)
    assert plan.method == "moments"
    assert np.linalg.norm(plan.inputs - dense) <= 1e-6 * np.linalg.norm(dense)
