"""The proofs in proofs/rocq: compiled, audited by asking the kernel, and compared with a lock.

sources : what can be read off the .v files without Rocq: tags, tokens that are not allowed, digests
kernel  : the two things that Rocq does for us: compile, and answer questions
terms   : fully explicit statements taken apart
audit   : what each tagged theorem says, and rests on, according to the kernel
lock    : proofs/rocq.lock.json, the audit that somebody has read and accepted
vectors : numbers that the kernel evaluates, for tests of the Python code
mutants : changes to the proofs that the gate must reject, and the rule that should
"""
