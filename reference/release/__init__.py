"""This package releases a private matrix from a table and records how it was made. The modules of this package read and
scale the table, keep the account of the budget, post-process the matrix and write the files.
"""

from covassay.reference.release.parts import exact_moments
from covassay.reference.release.table_release import ReleaseRequest, TableRelease, mechanism_for, release_table
from covassay.reference.release.tables.selection import Selection

__all__ = ["ReleaseRequest", "Selection", "TableRelease", "exact_moments", "mechanism_for", "release_table"]
