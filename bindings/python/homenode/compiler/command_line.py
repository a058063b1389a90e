"""What a gcc command line asks for: its sources, its objects, its output, and the flags that go to each stage."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

# Options whose value is the next word.
_WITH_VALUE = frozenset(
    [
        "-o",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-include",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-imacros",
        "-MF",
        "-MT",
        "-MQ",
        "-x",
        "-T",
        "-u",
        "-z",
        "-e",
        "-B",
        "-Xlinker",
        "-Xassembler",
        "-Xpreprocessor",
        "-aux-info",
        "--param",
        "-wrapper",
        "-specs",
    ]
)
_SOURCE = (".c",)
_ASSEMBLY = (".s", ".S")
_OTHER_LANGUAGES = (".cpp", ".cc", ".cxx", ".C", ".f", ".f90", ".F90")
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
    "-MF",
    "-MT",
    "-MQ",
)
_LINK_VALUES = ("-L", "-l", "-T", "-u", "-z", "-e", "-Xlinker")


def expanded(words: list[str]) -> list[str]:
    """The words with each @FILE replaced by the words in that file, as gcc reads them."""
    result: list[str] = []
    for word in words:
        if word.startswith("@") and Path(word[1:]).is_file():
            result += expanded(shlex.split(Path(word[1:]).read_text()))
        else:
            result.append(word)
    return result


@dataclass
class CommandLine:
    """A gcc command line, taken apart. `rest` keeps objects, libraries and link options in their order."""

    sources: list[Path] = field(default_factory=list)
    preprocess: list[str] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    output: Path | None = None
    compile_only: bool = False
    passes_through: bool = False
    untraced: list[str] = field(default_factory=list)

    @staticmethod
    def parse(words: list[str]) -> CommandLine:
        """Take a command line apart; anything that neither compiles nor links C passes through to gcc unchanged."""
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
            elif word.endswith(_SOURCE):
                line.sources.append(Path(word))
            elif word.endswith(_OTHER_LANGUAGES):
                line.passes_through = True
                line.untraced.append(word)
            elif word == "-" or word.endswith(".i"):
                line.passes_through = True
            else:
                line.link.append(word)
        # assembly goes along when C is linked; by itself it is gcc's
        if not line.sources and (line.compile_only or not line.link):
            line.passes_through = True
        return line

    def _option(self, option: str, words: list[str]) -> None:
        if option == "-c":
            self.compile_only = True
        elif (
            option in ("-E", "-S", "-M", "-MM", "-fsyntax-only")
            or option.startswith(("--version", "-dump", "-print", "-v", "--help"))
            or option == "-x"
        ):
            self.passes_through = True
        elif option == "-o":
            self.output = Path(words[1])
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
