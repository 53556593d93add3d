"""The machine checks of the ledger's claims. They run the reference's own formulas, and each rejects its mutants."""
