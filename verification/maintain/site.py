"""Build the web site of the project from a clone of its repository."""

import argparse
from pathlib import Path

from covassay.verification.site.build import build

PARSER = {"description": "Build the web site: tutorials, proofs, ledger, mechanisms and API, as static files."}


def site(options: argparse.Namespace) -> int:
    """Build the site, and print the path of its folder."""
    count = build(Path(options.root), Path(options.out))
    print(f"{count} pages in {options.out}; open {Path(options.out) / 'index.html'}")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="the folder for the site, which may be new, empty or an old site"
    )
    parser.add_argument("--root", default=".", metavar="DIR", help="a clone of the repository (default %(default)s)")
    parser.set_defaults(run=site)
