"""Test whether the error of a mechanism shrinks at the rate that its theorem states."""
