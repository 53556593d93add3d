"""Check the proofs in proofs/rocq: they are compiled, audited by asking the kernel of Rocq, and compared with a lock.

The gate is the check that rejects a change to the proofs until a person has read and accepted it. In one run,
`gate.recheck` compiles the proofs (kernel), asks the kernel for the statement and the axioms of every theorem (audit),
puts the answers in the form of the lock (lock) and reports differences (findings).

sources  : what can be read off the .v files without Rocq: tags, forbidden words, digests
kernel   : the two things that Rocq does for the gate: it compiles, and it answers questions
terms    : taking fully explicit statements apart
audit    : what each tagged theorem says, and what it rests on, according to the kernel
lock     : proofs/rocq.lock.json, the audit that somebody has read and accepted
findings : what the gate refuses, and the comparisons that find it
gate     : one run of the gate
vectors  : numbers that the kernel evaluates, for tests of the Python code
picture  : which folders of proofs/rocq rest on which
mutants  : changes to the proofs that the gate must reject, and the rule that should reject each
"""
