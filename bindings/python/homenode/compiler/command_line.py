"""What a compiler's command line asks for: its sources, its objects, its output, and the flags that go to each stage."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from homenode.compiler.languages import Language, language_of

# Seen in the preprocessor's stage only: their effects are in its output.
_PREPROCESSOR_VALUES = (
    "-I",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
)
_LINK_VALUES = ("-L", "-l", "-T", "-u", "-z", "-e", "-Xlinker")
_OTHER_VALUES = (
    *("-o", "-x", "-B", "-J", "-Xassembler", "-Xpreprocessor", "-aux-info", "--param", "-wrapper", "-specs"),
    *("--sysroot", "-dumpbase", "-dumpbase-ext", "-dumpdir"),
)
# Options whose value is the next word.
_WITH_VALUE = frozenset([*_PREPROCESSOR_VALUES, *_LINK_VALUES, *_OTHER_VALUES])


def expanded(words: list[str]) -> list[str]:
    """The words with each @FILE replaced by the words in that file, as gcc reads them."""
    result: list[str] = []
    for word in words:
        if word.startswith("@") and Path(word[1:]).is_file():
            result += expanded(shlex.split(os.fsdecode(Path(word[1:]).read_bytes())))
        else:
            result.append(word)
    return result


@dataclass(frozen=True)
class Source:
    """A file to compile."""

    path: Path
    language: Language


@dataclass
class CommandLine:
    """A command line of gcc, g++ or gfortran, taken apart. `link` keeps objects, libraries and link options in their order."""

    sources: list[Source] = field(default_factory=list)
    preprocess: list[str] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    output: Path | None = None
    compile_only: bool = False
    passes_through: bool = False
    untraced: list[str] = field(default_factory=list)
    _named: str | None = None
    _only_asks: bool = False

    @property
    def include_folders(self) -> list[Path]:
        """What -I names, in its order."""
        folders, words = [], iter(self.preprocess)
        for word in words:
            if word.startswith("-I"):
                folders.append(Path(word[2:] or next(words)))
        return folders

    @staticmethod
    def parse(words: list[str], driver: str = "cc") -> CommandLine:
        """Take a command line apart; what neither compiles nor links passes through to the compiler unchanged."""
        line = CommandLine()
        position = 0
        while position < len(words):
            word = words[position]
            position += 1
            if word in _WITH_VALUE:
                value = words[position] if position < len(words) else ""
                position += 1
                line._option(word, [word, value])
            elif word.startswith("-") and word != "-":
                line._option(word, [word])
            elif word == "-":
                line.passes_through = True
                line.untraced.append("standard input")
            elif (language := language_of(word, driver, line._named)) is not None:
                line.sources.append(Source(Path(word), language))
            elif line._named is not None and not line._named.startswith("assembler"):
                line.passes_through = True
                line.untraced.append(word)
            else:
                line.link.append(word)
        # assembly goes along when others are linked; by itself it is the compiler's
        if not line.sources and (line.compile_only or not line.link):
            line.passes_through = True
        if line._only_asks:
            line.untraced = []  # nothing of it becomes an object here
        return line

    def _option(self, option: str, words: list[str]) -> None:
        if option == "-c":
            self.compile_only = True
        elif option in ("-E", "-S", "-M", "-MM", "-fsyntax-only") or option.startswith(
            (
                "--version",
                "-dumpmachine",
                "-dumpversion",
                "-dumpfullversion",
                "-dumpspecs",
                "-print",
                "-v",
                "--help",
                "-###",
            )
        ):
            self.passes_through = self._only_asks = True
        elif option.startswith("-x"):
            named = words[1] if len(words) > 1 else option[2:]
            self._named = None if named == "none" else named
        elif option.startswith("-o"):  # also in one word with its value
            self.output = Path(words[1] if len(words) > 1 else option[2:])
        elif option in ("-MD", "-MMD", "-MP", "-MG") or (
            option.startswith(_PREPROCESSOR_VALUES) and not option.startswith("-DM")
        ):
            self.preprocess += words
        elif (
            option in _LINK_VALUES
            or option.startswith(("-L", "-l", "-Wl,"))
            or option in ("-static", "-shared", "-rdynamic", "-pie", "-no-pie", "-s")
        ):
            self.link += words
        else:
            self.compile += words
            if option in ("-pthread", "-fopenmp", "-m64", "-m32") or (
                option.startswith("-std=") is False and option.startswith("-fuse-ld")
            ):
                self.link += words
