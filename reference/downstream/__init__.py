"""This package computes statistics from one released matrix at no further cost, since post-processing spends no privacy
budget.
"""
