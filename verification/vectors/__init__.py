"""This package has known-answer vectors, which are tests with their right answers, for implementations in any language.

The tests are in `tests.json`, and README.md explains every kind of question. `covassay schema known-answers` prints the
schema. A test with the result "valid" has an output. A test with the result "invalid" must be rejected, and its field
"trips" says what is wrong with the question. The flags of a test name the mistakes that it detects.
"""
