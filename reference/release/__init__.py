"""From a data file to a private matrix with its provenance: reading tables, scaling, accounts of budgets, writing."""

from covassay.reference.release.table_release import ReleaseRequest, TableRelease, release_table

__all__ = ["ReleaseRequest", "TableRelease", "release_table"]
