"""This package builds the web site: pages for users, the proofs, the ledger and the reference, by one command."""
