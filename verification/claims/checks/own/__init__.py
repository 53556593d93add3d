"""Machine checks of claims of our own, which no paper states."""
