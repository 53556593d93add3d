"""Declare what the targets of an adapter require, which is a package at one version or a copy of a project's source.

An adapter declares its requirements in the object `PACKAGE`. The audit can therefore say in one line what is wrong: a
requirement is missing, has another version or cannot be imported. Before the audit reports a missing requirement, it
tries the separate environment of the package (`environment`).
"""

import importlib
import importlib.metadata
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from covassay.verification.audit.targets.calling import text_of

ANY_VERSION = (
    "COVASSAY_ANY_VERSION"  # if this environment variable is set, versions other than the pinned version are accepted
)
BASE = ("numpy>=1.26", "scipy>=1.11")  # covassay's own code needs these packages in every environment


@dataclass(frozen=True)
class Package:
    """The packages or the project that the targets of an adapter require.

    `requirements` are the requirements for pip, with pinned versions. The first requirement is the audited package
    itself, `NAME==VERSION`, unless `source` or `without_dependencies` is given. `without_dependencies` are requirements
    that are installed without their dependencies; in this case the audited package is the first of these requirements.
    `modules` are the modules that the targets import; a message distinguishes a missing module from a module that fails
    to import. `source` is an environment variable that names the directory with a copy of the project, if the
    project is no package. `files` are files that every copy of the project has; a directory that lacks one of
    them is rejected. `project` says where the user can get a copy of the project.
    """

    requirements: tuple[str, ...]
    modules: tuple[str, ...]
    without_dependencies: tuple[str, ...] = ()
    source: str = ""
    files: tuple[str, ...] = ()
    project: str = ""

    @property
    def pinned(self) -> tuple[str, str]:
        """Return the name of the package and its version; both are empty strings for a project that is no package."""
        if self.source:
            return "", ""
        name, _, version = self.audited.partition("==")
        return name.partition("[")[0], version

    @property
    def audited(self) -> str:
        """Return the audited package with its version, or the project whose copy the user has named."""
        return self.project if self.source else (self.without_dependencies or self.requirements)[0]

    @property
    def everything(self) -> list[str]:
        """Return all requirements, in the form in which an environment records them."""
        return [*self.requirements, *self.without_dependencies]

    def copy(self) -> Path:
        """Return the directory with the copy of the project that the user has named."""
        return Path(os.environ[self.source])

    def no_copy(self) -> str:
        """Return why there is no copy of the project, or an empty string if a copy exists or is not needed."""
        if not self.source:
            return ""
        folder = os.environ.get(self.source)
        if not folder:
            return f"set the environment variable {self.source} to the directory of a copy of {self.project}"
        missing = [file for file in self.files if not (Path(folder) / file).is_file()]
        return f"{self.source} = {folder}: no copy of {self.project}, {missing[0]} is missing" if missing else ""

    def problem(self, own_process: bool = False) -> str:
        """Return why the targets cannot be made in this process, or an empty string if the targets can be made.

        A copy of a project is used only in a separate process, because other code may have modules with the same names,
        such as `utils`.
        """
        name, version = self.pinned
        if self.source and not own_process:
            return "its modules need a separate process, because other code may have modules with the same names"
        if name:
            found = _version(name)
            if not found:
                return f"{name} {version} is not installed"
            if found != version and not os.environ.get(ANY_VERSION):
                return (
                    f"the adapter is for {name} {version}, and {found} is installed "
                    f"({ANY_VERSION}=1 audits what is installed)"
                )
        if self.source and str(self.copy()) not in sys.path:
            sys.path.insert(0, str(self.copy()))
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ModuleNotFoundError as error:
                if error.name == module.partition(".")[0]:
                    return f"{error.name} is not installed"
                return f"importing {module} raised {last_line(error)}"
            except (Exception, SystemExit) as error:
                return f"importing {module} raised {last_line(error)}"
        return ""


def last_line(error: BaseException) -> str:
    """Return the type of an exception with the last line of its text."""
    lines = text_of(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1].strip()}" if lines else type(error).__name__


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def told_version(package: Package, part: str) -> str:
    """Return the version of a target for reports: its package with the version, or its project with the commit, and
    then `part`, the audited part of it.
    """
    name, _ = package.pinned
    if not name:
        return f"{package.project}{_commit(package.copy())}, {part}"
    return f"{name} {_version(name)}, {part}"


def _commit(folder: Path) -> str:
    """Return the commit of a copy in brackets, if git checked out the copy."""
    head = folder / ".git" / "HEAD"
    try:
        text = head.read_text(encoding="utf-8").strip()
        if text.startswith("ref: "):
            text = (folder / ".git" / text.removeprefix("ref: ")).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return f" at {text[:7]}"
