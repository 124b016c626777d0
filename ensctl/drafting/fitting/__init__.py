"""Acceptance and cost read from measurements: α, hazards, fitted models, and their errors."""
