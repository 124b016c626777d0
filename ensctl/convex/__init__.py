"""The one optimizer under everything, on plain arrays; the only importer of cvxpy.

Inputs u are found that meet R u = d (exactly, within a tolerance, or at a cost) and limits, with
least energy, fuel or peak.  R is replaced by an orthonormal basis of its rows before any solver
sees it, every answer is checked by weak duality, and infeasibility is claimed only with
multipliers that prove it.  Complex data enter as stacked real ones.
"""

from ensctl.convex.domains import Box, Discs, box, discs
from ensctl.convex.exact_margin import exact_margin
from ensctl.convex.infeasibility import InfeasibilityCertificate, infeasibility_certificate
from ensctl.convex.lq import LQ, lq
from ensctl.convex.newton_box import BoxSolution, newton_box
from ensctl.convex.optimality import (
    DualBound,
    OptimalityCertificate,
    dual_bound,
    optimality_certificate,
    primal_residual,
)
from ensctl.convex.phase_one import PhaseOne, box_phase_one
from ensctl.convex.problem import Objective, Problem
from ensctl.convex.program_result import ProgramResult
from ensctl.convex.programs import CompiledProgram, compile_program
from ensctl.convex.regions import Ball, Below, Quadratic, Region, Within, WithinDiscs, Zero
from ensctl.convex.rows import ExactRows, Rows, slew_rows
from ensctl.convex.smallest_peak import SmallestPeak, smallest_peak
from ensctl.convex.soft_box import SoftSystem, soft_newton_box, soft_system
from ensctl.convex.solvers import BACKENDS, Ability, Backend
from ensctl.convex.stacking import moduli, stack_matrix, stack_rows, stack_vector, unstack

__all__ = [
    "BACKENDS",
    "LQ",
    "Ability",
    "Backend",
    "Ball",
    "Below",
    "Box",
    "BoxSolution",
    "CompiledProgram",
    "Discs",
    "DualBound",
    "ExactRows",
    "InfeasibilityCertificate",
    "Objective",
    "OptimalityCertificate",
    "PhaseOne",
    "Problem",
    "ProgramResult",
    "Quadratic",
    "Region",
    "Rows",
    "SmallestPeak",
    "SoftSystem",
    "Within",
    "WithinDiscs",
    "Zero",
    "box",
    "box_phase_one",
    "compile_program",
    "discs",
    "dual_bound",
    "exact_margin",
    "infeasibility_certificate",
    "lq",
    "moduli",
    "newton_box",
    "optimality_certificate",
    "primal_residual",
    "slew_rows",
    "smallest_peak",
    "soft_newton_box",
    "soft_system",
    "stack_matrix",
    "stack_rows",
    "stack_vector",
    "unstack",
]
