"""This package has JSON Schemas of what the commands print and write; `covassay schema` prints them."""
