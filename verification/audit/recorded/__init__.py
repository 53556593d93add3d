"""Record the random draws of a target, run the target again with chosen draws, and compute its privacy loss exactly."""
