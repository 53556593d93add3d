"""Files: a data file becomes rows of numbers, chunk by chunk; what is released becomes a file."""
