"""The questions of this package check promises on which any caller may rely."""
