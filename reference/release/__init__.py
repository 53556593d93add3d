"""From a data file to a private matrix with its provenance: tables, scaling, accounts, writing."""
