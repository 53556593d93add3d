"""List the known bugs of samplers of the Bingham law."""

from covassay.verification.audit.known_bugs import bingham_accepts_all, bingham_wrong_sign
from covassay.verification.audit.known_bugs.known_bug import KnownBug

BUGS: tuple[KnownBug, ...] = (bingham_wrong_sign.BUG, bingham_accepts_all.BUG)
