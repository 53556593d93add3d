"""The ledger's entries: one TOML file per paper, and one for the claims of this project."""
