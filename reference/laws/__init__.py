"""This package has probability laws of noise: densities, exact samplers, exact distribution functions and moments."""
