"""This package builds the web site, which has pages for users, the proofs, the ledger and the reference."""
