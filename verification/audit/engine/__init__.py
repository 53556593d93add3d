"""The audit itself: contract, law and privacy checks, and the verdict."""
