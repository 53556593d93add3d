"""Recorded draws: a target runs again with the same random draws but one, and its privacy loss is computed exactly."""
