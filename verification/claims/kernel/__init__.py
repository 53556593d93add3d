"""Check the proofs in proofs/rocq: they are compiled, audited by asking the kernel of Rocq, and compared with a lock.

The gate is the check that rejects a change to the proofs until a person has read and accepted it. In one run,
`gate.recheck` compiles the proofs (kernel), asks the kernel for the statement and the axioms of every theorem (audit),
puts the answers in the form of the lock (lock) and reports differences (findings).

sources  : reads tags, forbidden words and digests from the .v files, without Rocq
kernel   : runs Rocq, which compiles the proofs and answers questions about them
terms    : splits fully explicit statements into premises and conclusions
audit    : asks the kernel for the statement and the axioms of each tagged theorem
lock     : reads and writes proofs/rocq.lock.json, the audit that a person has read and accepted
findings : finds what the gate rejects
gate     : runs the gate once
vectors  : lets the kernel evaluate numbers, with which tests compare the Python code
picture  : draws which folders of proofs/rocq use files of which other folders
mutants  : makes changes to the proofs that the gate must reject, and tries whether the intended rule rejects each
"""
