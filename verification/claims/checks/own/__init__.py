"""This package holds the machine checks of this project's own claims, which no paper states."""
