"""Run a target again with all random draws equal but one, and compute its privacy loss exactly."""
