"""What the papers claim and what is known of it: entries, machine checks, ledger, kernel proofs, rates."""
