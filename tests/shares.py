"""Divide the slow tests into shares, which have no test in common. CI runs the tests of one share, and every week the
tests are assigned to the shares anew.
"""

import hashlib


def in_share(name: str, share: str, seed: str = "") -> bool:
    """Return whether a test is in a share, "K/N", which is the Kth of N shares. A hash of the seed and of the test's
    name assigns the test to one of the N shares.
    """
    k, n = map(int, share.split("/"))
    return int(hashlib.sha256(f"{seed}{name}".encode()).hexdigest(), 16) % n == k - 1
