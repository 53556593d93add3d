"""Questions on the contract: promises on which any caller may rely."""
