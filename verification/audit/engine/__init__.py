"""The engine has the parts from which the questions of an audit are built: draws, data sets, and tests of laws and
events.
"""
