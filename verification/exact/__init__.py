"""This package computes probabilities and other values of the laws in covassay a second time, to check the reference
implementations. The values are exact, or enclosed between bounds, or (in `above_threshold`) exact up to rounding.
"""
