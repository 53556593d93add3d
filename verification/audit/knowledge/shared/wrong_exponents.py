"""List plausible mistakes in the exponent of a Bingham law, and the eigenvalues of data on which the mistakes show."""

LEVELS = (5.0, 3.0, 1.0)  # the eigenvalues of ηXᵀX on data with three distinct eigenvalues
WRONG_EXPONENTS = (  # (name, explanation, factor)
    ("double-exponent", "the exponent is twice the calibrated one", 2.0),
    ("half-exponent", "the exponent is half the calibrated one", 0.5),
    ("quadruple-exponent", "the exponent is four times the calibrated one", 4.0),
    ("uniform", "on equal rows the draws are uniform: the data may be unused, or their mean may be subtracted", 0.0),
)
