"""This package compares covassay with other auditors on the same pairs of data sets, numbers of draws and levels."""
