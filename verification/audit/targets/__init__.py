"""The target of an audit is a Python function, a process in any language, or a function of a package that an adapter
names.
"""
