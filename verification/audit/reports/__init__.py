"""Write the report of an audit in several formats, such as text for a terminal, JSON, JUnit XML and SARIF."""
