"""Known-answer vectors: what an implementation in any language must answer, test by test.

They are in `tests.json`; `covassay schema known-answers` prints the schema. A test with "result": "valid" has an
output, one with "invalid" must be refused. Its flags name what it is there to catch. A number is a JSON number, or one
of the words "nan" and "inf". Every input is a short binary fraction, so that it is exact in every language.
"""
