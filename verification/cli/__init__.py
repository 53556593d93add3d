"""This package is the command line, with one module for every command, which is imported when the command is run."""
