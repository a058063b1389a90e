"""The objects and libraries of a link line, and those that travel inside of traced ones in their place."""

import subprocess
from pathlib import Path

from homenode.compiler.archives import members_of
from homenode.compiler.shared_libraries import plain_library


def _inner(section: str, object_file: Path, folder: Path, number: int) -> Path | None:
    """The object that travels in a section of this one."""
    twin = folder / f"inner{number}.o"
    ended = subprocess.run(
        ["objcopy", "-O", "binary", f"--only-section={section}", "--set-section-flags", f"{section}=alloc",
         str(object_file), str(twin)], capture_output=True, check=False,
    )  # fmt: skip
    return twin if ended.returncode == 0 and twin.exists() and twin.stat().st_size else None


def inner_inputs(section: str, words: list[str], folder: Path) -> tuple[list[str], bool]:
    """The link line with each traced object, also those in archives, replaced by the one in this section; whether any had one."""
    result: list[str] = []
    number, found = 0, False
    for word, path in files_of(words):
        if path is None or not is_code(path):
            result.append(str(plain_library(path) or word) if path is not None else word)
            continue
        number += 1
        if path.suffix == ".o":
            twin = _inner(section, path, folder, number)
            found |= twin is not None
            result.append(str(twin or path))
            continue
        # an archive stays an archive: only the members that are needed are linked
        unpacked = folder / f"archive{number}"
        unpacked.mkdir()
        members, had_one = [], False
        try:
            found_members = list(members_of(path))
        except (ValueError, OSError):  # no archive as GNU's ar writes it: the linker says what it thinks of it
            found_members = []
        for place, (member_name, content) in enumerate(found_members):
            number += 1
            member = unpacked / str(place) / member_name  # several may have one name
            member.parent.mkdir()
            member.write_bytes(content)
            if (twin := _inner(section, member, folder, number)) is not None:
                member.write_bytes(twin.read_bytes())
                had_one = True
            members.append(member)
        if not had_one:
            result.append(word)
            continue
        found = True
        changed = folder / f"{number}-{path.name}"
        subprocess.run(["ar", "qcs", str(changed), *map(str, members)], check=True)
        result.append(str(changed))
    return result, found


def files_of(words: list[str]) -> list[tuple[str, Path | None]]:
    """The words of a link line, `-L FOLDER` and `-l NAME` in one word, each with its object, archive or library if it names one."""
    folders = [Path(word[2:]) for word in _joined(words, "-L") if word.startswith("-L")]
    result: list[tuple[str, Path | None]] = []
    for word in _joined(_joined(words, "-L"), "-l"):
        path = Path(word)
        if word.startswith("-l"):
            # as the linker looks: a shared library in an earlier folder, or beside the archive, comes first
            kinds = (word[3:],) if word[2:3] == ":" else (f"lib{word[2:]}.so", f"lib{word[2:]}.a")
            path = next((place / kind for place in folders for kind in kinds if (place / kind).is_file()), path)
        result.append((word, path if path.is_file() and (is_code(path) or ".so" in path.name) else None))
    return result


def is_code(path: Path) -> bool:
    """Whether the linker takes code from this file: an object or a static library."""
    return path.suffix in (".o", ".a")


def _joined(words: list[str], option: str) -> list[str]:
    """The words with `-L FOLDER` written as `-LFOLDER`."""
    result: list[str] = []
    for word in words:
        if result and result[-1] == option:
            result[-1] += word
        else:
            result.append(word)
    return result
