"""This package releases a private matrix from a table, with its provenance: reading, scaling, accounts,
post-processing, writing.
"""

from covassay.reference.release.parts import exact_moments
from covassay.reference.release.table_release import ReleaseRequest, TableRelease, mechanism_for, release_table
from covassay.reference.release.tables.selection import Selection

__all__ = ["ReleaseRequest", "Selection", "TableRelease", "exact_moments", "mechanism_for", "release_table"]
