"""What can be computed from one released matrix at no further cost, since post-processing spends no privacy budget."""
