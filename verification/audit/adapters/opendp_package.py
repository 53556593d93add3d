"""Declare which version of OpenDP its adapters need."""

from covassay.verification.audit.targets.package import Package

PACKAGE = Package(requirements=("opendp[numpy]==0.16.0", "scikit-learn==1.6.1"), modules=("opendp.prelude",))
