"""This package is the command line. Every command is a module, which is imported when the command is run."""
