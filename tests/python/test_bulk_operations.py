"""Copies, fills and what the kernel delivers: each byte once, as bulk accesses of at most 64 bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from homenode import compiler
from homenode.compiler.copies import as_calls
from homenode.compiler.stream_dump import Access, messages, record

pytestmark = pytest.mark.capture
# `to` and `from` begin lines. OPERATION works on them and on a file of 1000 bytes, whose name is `name`.
PROGRAM = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
struct large { double part[25]; };
char to[4096] __attribute__((aligned(64))), from[4096] __attribute__((aligned(64)));
char* elsewhere = to;
extern "C" void operation(const char* name) __attribute__((noinline));
void operation(const char* name) {
  (void)name;
  OPERATION;
}
int main(int count, char** words) {
  operation(words[count - 1]);
  printf("%p %p %p\\n", (void*)to, (void*)from, (void*)elsewhere);
  return 0;
}
"""


@dataclass
class Done:
    """What an operation did: (accesses, bytes) that are bulk, by place and kind."""

    accesses: list[Access]
    to: int
    source: int
    elsewhere: int

    def bulk(self, place: str, kind: str) -> tuple[int, int]:
        base = {"to": self.to, "from": self.source, "elsewhere": self.elsewhere}[place]
        found = [a for a in self.accesses if a.bulk and a.kind == kind and base <= a.address < base + (1 << 22)]
        if place != "elsewhere":
            found = [a for a in found if a.address < base + 4096]
        assert all(a.address // 64 == (a.address + a.width - 1) // 64 for a in found if kind == "write")
        return len(found), sum(a.width for a in found)


@pytest.fixture
def perform(tmp_path: Path) -> Callable[..., Done]:
    """Compile and trace an operation."""

    def run(operation: str, *flags: str, driver: str = "cc") -> Done:
        text = PROGRAM.replace("OPERATION", operation)
        source = tmp_path / ("bulk.cpp" if driver == "c++" else "bulk.c")
        source.write_text(
            text if driver == "c++" else text.replace('extern "C" ', "").replace(" __attribute__((noinline));", ";")
        )
        (tmp_path / "file").write_bytes(b"x" * 1000)
        program = tmp_path / "bulk"
        assert compiler.main([*(flags or ("-O2",)), "-g", str(source), "-o", str(program)], driver) == 0
        data, output, status = record([program, tmp_path / "file"])
        assert status == 0
        to, source_at, elsewhere = (int(word, 16) for word in output.split())
        accesses = [access for message in messages(data) for access in message.accesses]
        return Done(accesses, to, source_at, elsewhere)

    return run


LEVELS = pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
# n bytes from the beginning of a line: ceil(n / 64) accesses
COPIES = [
    ("memcpy(to, from, 1000)", 1000),
    ("memcpy(to, from, 24)", 24),  # gcc would make moves of it
    ("memcpy(to, from, 8)", 8),
    ("memmove(to, from, 200)", 200),
    ("mempcpy(to, from, 129)", 129),
    ("__builtin_memcpy(to, from, 200)", 200),
    ("__builtin_memmove(to, from, 24)", 24),
    ("__builtin___memcpy_chk(to, from, 300, 4096)", 300),
    ("*(struct large*)to = *(const struct large*)from", 200),
]


@LEVELS
@pytest.mark.parametrize(("operation", "n"), COPIES)
def test_copies(perform: Callable[..., Done], operation: str, n: int, level: str) -> None:
    done = perform(operation, level)
    lines = -(-n // 64)
    # each byte read once and written once
    assert done.bulk("to", "write") == (lines, n)
    assert done.bulk("from", "read") == (lines, n)


@LEVELS
@pytest.mark.parametrize(
    ("operation", "n"),
    [
        ("memset(to, 0, 1000)", 1000),
        ("memset(to, 1, 24)", 24),
        ("__builtin_memset(to, 0, 300)", 300),
        ("__builtin___memset_chk(to, 0, 200, 4096)", 200),
        ("*(struct large*)to = (struct large){}", 200),
    ],
)
def test_fills(perform: Callable[..., Done], operation: str, n: int, level: str) -> None:
    done = perform(operation, level)
    assert done.bulk("to", "write") == (-(-n // 64), n)
    assert done.bulk("from", "read") == (0, 0)


FILE = 'int f = open(name, O_RDONLY); FILE* s = fopen(name, "r"); (void)f, (void)s; '


@pytest.mark.parametrize(
    ("operation", "n"),
    [
        ("if (read(f, to, 700) != 700) abort()", 700),
        ("if (read(f, to, 4096) != 1000) abort()", 1000),  # what there is, not what was asked for
        ("if (read(-1, to, 700) != -1) abort()", 0),
        ("if (pread(f, to, 100, 950) != 50) abort()", 50),
        ("if (fread(to, 8, 512, s) != 125) abort()", 1000),
        ("struct iovec v[2] = {{to, 64}, {to + 64, 2000}}; if (readv(f, v, 2) != 1000) abort()", 1000),
    ],
)
@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-D_FORTIFY_SOURCE=2")])
def test_what_is_read_is_written(perform: Callable[..., Done], operation: str, n: int, flags: tuple[str, ...]) -> None:
    done = perform(FILE + operation, *flags)
    assert done.bulk("to", "write") == (-(-n // 64), n)


def test_a_mapped_file_is_written_once_where_it_is_mapped(perform: Callable[..., Done]) -> None:
    done = perform(
        FILE + "elsewhere = (char*)mmap(0, 8192, PROT_READ, MAP_PRIVATE, f, 0); to[0] = elsewhere[999] + elsewhere[5]"
    )
    # 1000 bytes of content: 15 lines and 40 bytes; the program's own two reads are no bulk operation
    assert done.bulk("elsewhere", "write") == (16, 1000)
    assert done.bulk("elsewhere", "read") == (0, 0)
    assert (
        len([a for a in done.accesses if a.kind == "read" and done.elsewhere <= a.address < done.elsewhere + 8192]) == 2
    )


def test_anonymous_mappings_are_written_by_nobody(perform: Callable[..., Done]) -> None:
    done = perform("elsewhere = (char*)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)")
    assert done.bulk("elsewhere", "write") == (0, 0)


@LEVELS
def test_calloc_clears_and_realloc_copies(perform: Callable[..., Done], level: str) -> None:
    cleared = perform("elsewhere = (char*)calloc(100, 10)", level)
    # 1000 bytes in blocks that begin 16 bytes into a line: 48, 14 lines, 56
    assert cleared.bulk("elsewhere", "write")[1] == 1000
    blocks = "char* p = (char*)malloc(1000); volatile char* stop = (char*)malloc(8); *stop = 1; "
    moved = perform(blocks + "elsewhere = (char*)realloc(p, 3000)", level)
    # the block behind it is taken, so it moves: 1000 bytes read, 1000 written
    assert moved.bulk("elsewhere", "write")[1] == 1000
    assert sum(a.width for a in moved.accesses if a.bulk and a.kind == "read") == 1000


def test_large_callocs_come_cleared_from_the_kernel(perform: Callable[..., Done]) -> None:
    assert perform("elsewhere = (char*)calloc(1 << 20, 1)").bulk("elsewhere", "write") == (0, 0)


@LEVELS
@pytest.mark.parametrize("standard", ["-std=c++98", "-std=c++11", "-std=c++20"])
def test_copies_of_cxx(perform: Callable[..., Done], level: str, standard: str) -> None:
    done = perform(
        "const double* s = (const double*)from; std::copy(s, s + 25, (double*)to)",
        level, standard, "-include", "algorithm", driver="c++",
    )  # fmt: skip
    assert done.bulk("to", "write") == (4, 200)
    assert done.bulk("from", "read") == (4, 200)


def test_a_scalar_through_memcpy_stays_one() -> None:
    text = '# 1 "a.c"\nvoid f(void* d, void* s) { __builtin_memcpy(d, s, 8); }\n'
    changed = as_calls(text, "a.c", False, [])
    assert "__homenode_memcpy(d, s, 8)" in changed
    assert changed.count("__builtin_memcpy") == 1  # in the function that decides
    assert as_calls('# 1 "a.c"\nint i;\n', "a.c", False, []) == '# 1 "a.c"\nint i;\n'
