"""Reports of an audit: on a terminal, as JSON and its schema, as JUnit XML, and as other formats."""
