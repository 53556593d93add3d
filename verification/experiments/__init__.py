"""Figures of the papers' laws and constants, with the numbers behind them."""
