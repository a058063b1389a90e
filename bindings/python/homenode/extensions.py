"""Extensions: files of Python, libraries of C++ and installed packages that register policies."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from homenode import _core
from homenode.arguments import is_path
from homenode.errors import PolicyError, UsageError
from homenode.registering import add_source, reproducible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "homenode.policies"
"""Entry points of this group name modules of installed packages whose import registers policies."""

_loaded: list[Path] = []
_installed = threading.RLock()
_failed: list[PolicyError] = []
_looked = False


def load_extension(path: str | Path) -> None:
    """Load the policies of a Python file, or of a library (.so) that ``homenode_add_policy`` of homenode's CMake package built.

    From then on they are there by name: in every function, in ``homenode policies``, in processes of the engine `simgrid`. Loading a
    file again registers its policies anew. PolicyError with the file's own exception as its cause; InputError for a library that was
    built for another homenode.
    """
    if not is_path(path):
        raise UsageError(
            f"an extension is {type(path).__name__}; allowed: the path of a Python file or of a library (.so)"
        )
    file = Path(path)
    is_library = file.suffix != ".py" and ".so" in file.suffixes  # libmine.so.1, too
    if not file.is_file():
        raise UsageError(f"no {'library' if is_library else 'Python file'} '{path}'")
    with reproducible():
        if is_library:
            _core.load_library(str(file.absolute()))
        else:
            _run(file)
    if file.absolute() not in _loaded:
        _loaded.append(file.absolute())


def loaded_extensions() -> list[Path]:
    """The files that were loaded, in their order."""
    return list(_loaded)


def _run(file: Path) -> None:
    try:
        code = compile(file.read_bytes(), str(file), "exec")
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"'{file}' is no Python file: {error}") from None
    # A module that can be found: dataclasses and the like look their module up.
    module = ModuleType(f"homenode_extension_{len(_loaded)}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except Exception as error:
        own = error.__traceback__.tb_next if error.__traceback__ is not None else None  # the user's lines alone
        raise PolicyError(f"'{file}' ended with {type(error).__name__}: {error}") from error.with_traceback(own)


def load_installed() -> None:
    """Load the policies of installed packages, once: they are looked for when a name is not known otherwise, or for a list."""
    global _looked
    with _installed:
        if not _looked:
            from importlib.metadata import entry_points

            _looked = True
            for entry in entry_points(group=GROUP):
                _load_entry(entry)
        if _failed:
            raise _failed[0]


def _load_entry(entry: EntryPoint) -> None:
    try:
        with reproducible():
            entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist is not None else entry.value
        failed = PolicyError(
            f"policies of the installed package '{package}' ({entry.value}) ended with {type(error).__name__}: {error}"
        )
        failed.__cause__ = error
        _failed.append(failed)


add_source(load_installed)
