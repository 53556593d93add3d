"""Programs that measure the constants of the package `reference.recommendation`, and compare its recommendations with
simulations.
"""
