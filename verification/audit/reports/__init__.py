"""How the result of an audit is shown: terminal, JSON, JUnit XML and the tables of the README."""
