"""ensctl: controllability, conditioning and control of a population with one broadcast input."""
