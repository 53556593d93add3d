"""Probability laws: density, exact sampler, exact distribution functions and moments."""
