"""This package contains the building blocks of the checks of an audit: draws, data sets, and tests of distributions and
of events.
"""
