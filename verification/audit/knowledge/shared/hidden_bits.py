"""State why the check of low-order bits finds no loss above the claim in releases of mechanisms with
preconditioners.
"""

EIGENVECTORS = (
    "for data of one column the output is one of a few public numbers. For data of more columns, the output is "
    "computed from eigenvectors of a noisy matrix, and each bit of an eigenvector depends on all entries of the matrix"
)
POWERS = (
    "the noisy numbers are multiplied by powers of √0.84, which rounds off their last bits. For data of one "
    "column, we divided the outputs of pme and pgce by this constant. The best event then occurred in at most 7 of "
    "1500 draws on one data set and in none on the other, and a test of this event would take about 10^6 draws"
)
