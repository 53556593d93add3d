"""Recorded draws: a target runs again with all random draws equal but one, and its privacy loss is computed exactly."""
