"""The machine checks of the ledger's claims. They run the formulas of the reference, and each rejects its mutants."""
