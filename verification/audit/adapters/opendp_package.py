"""Declare what the adapters of OpenDP need: the package at its pinned version."""

from covassay.verification.audit.targets.package import Package

PACKAGE = Package(requirements=("opendp[numpy]==0.16.0", "scikit-learn==1.6.1"), modules=("opendp.prelude",))
