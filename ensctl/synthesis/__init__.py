"""Inputs and feedback: what to broadcast so that the population ends where it should."""

from ensctl.synthesis.min_energy import MinEnergy, min_energy

__all__ = ["MinEnergy", "min_energy"]
