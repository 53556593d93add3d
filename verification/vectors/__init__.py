"""Known-answer vectors: tests with their right answers, for implementations in any language.

The tests are in `tests.json`, and README.md explains every kind of question. `covassay schema known-answers` prints the
schema. A test with "result": "valid" has an output. A test with "invalid" must be rejected, and "trips" says what is
wrong with it. The flags of a test name the mistakes that it detects.
"""
