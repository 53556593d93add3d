"""What can be computed from one released matrix, for nothing: privacy is kept under post-processing."""
