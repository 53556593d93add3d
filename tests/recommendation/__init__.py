"""Programs that measure the constants of the recommendation and compare it with simulations."""
