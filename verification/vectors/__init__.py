"""This package has known-answer vectors, which are tests with their right answers, for implementations in any language.

The tests are in `tests.json`, and README.md explains every kind of question. `covassay schema known-answers` prints the
schema. A test with the result "valid" has an output. If the result of a test is "invalid", an implementation must
refuse to answer. The field "trips" of such a test has the error message of the reference. The flags of a test name the
mistakes that it detects.
"""
