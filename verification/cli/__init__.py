"""This package is the command line, with one module for every command, imported when the command is run."""
