"""What importing the room costs, and that its public names are complete."""

import subprocess
import sys

import ensctl.convex

HEAVY = ("cvxpy", "clarabel", "osqp", "highspy", "scipy.optimize", "scipy.sparse", "flint")


def test_import_is_light(repository):
    code = f"import sys, ensctl.convex; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_newton_does_not_load_cvxpy(repository):
    code = (
        "import sys, numpy as np; from ensctl.convex import box, newton_box; "
        "newton_box(np.full((4, 1), 0.5), np.array([1.0]), box(-0.6, 0.6, 4)); "
        "print('cvxpy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"


def test_solving_writes_nothing_to_stdout(repository):
    """stdout is data: linear programs included, whose solver likes to introduce itself."""
    code = (
        "import numpy as np\n"
        "from ensctl.convex import Objective, Problem, box, compile_program, lq\n"
        "system = lq(np.ones((1, 3)))\n"
        "for objective in Objective:\n"
        "    data = system.coordinates(np.ones(1))\n"
        "    compile_program(Problem(objective, system, data, box(-1, 1, 3))).solve()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert run.stdout == ""


def test_public_names_exist():
    assert sorted(ensctl.convex.__all__) == sorted(set(ensctl.convex.__all__))
    for name in ensctl.convex.__all__:
        assert getattr(ensctl.convex, name) is not None
