"""How the result of an audit is shown: on a terminal, as JSON and its schema, as JUnit XML, in the README's tables."""
