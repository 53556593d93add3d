"""The command line: one module for every command, imported when the command is run."""
