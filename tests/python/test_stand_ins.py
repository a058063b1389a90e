"""qsort and bsearch are a part of the program: recorded, counted, and the C library's in what they do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.compiler import driver as compiler
from homenode.compiler import stand_ins
from homenode.compiler.stream_dump import messages, record
from homenode.resources import capture_runtime
from streams import accesses, stream
from support import Ended

pytestmark = pytest.mark.capture
Run = Callable[..., Ended]

# The order of comparisons, by what they compare, and what comes of them; elements of SIZE bytes that differ in their first two.
ORDERS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long seen;
static int key_of(const unsigned char* e) { return SIZE > 1 ? e[0] >> 4 : e[0] & 15; }
static int compare(const void* a, const void* b) {
  for (int i = 0; i < SIZE; ++i) seen = seen * 31 + ((const unsigned char*)a)[i] * 7 + ((const unsigned char*)b)[i];
  return key_of(a) - key_of(b);
}
static int compare_within(const void* a, const void* b, void* calls) { ++*(int*)calls; return compare(a, b); }
int main(void) {
  static const int numbers[] = {0, 1, 2, 3, 7, 64, 100, 1000};
  for (unsigned n = 0; n < sizeof numbers / sizeof *numbers; ++n)
    for (int place = 0; place < 2; ++place) {
      unsigned char* memory = malloc(numbers[n] * SIZE + 16), *elements = memory + place;
      unsigned state = 1;
      int calls = 0;
      for (int i = 0; i < numbers[n] * SIZE; ++i) elements[i] = (state = state * 1664525u + 1013904223u) >> 24;
      if (place == 0) qsort(elements, numbers[n], SIZE, compare);
      else qsort_r(elements, numbers[n], SIZE, compare_within, &calls);
      unsigned long sum = 0;
      for (int i = 0; i < numbers[n] * SIZE; ++i) sum = sum * 131 + elements[i];
      unsigned char* key = elements + numbers[n] / 2 * SIZE;
      void* found = numbers[n] ? bsearch(key, elements, numbers[n], SIZE, compare) : 0;
      printf("%d %lu %lu %d %ld\\n", numbers[n], seen, sum, calls, found ? (long)((unsigned char*)found - elements) : -1);
      free(memory);
    }
  return 0;
}
"""
BELOW = """#include <stdio.h>
#include <stdlib.h>
static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(int count, char** words) {
  static int two[2] = {1, 2};
  (void)words;
  printf("%p\\n", (void*)two);
  if (count > 1) qsort(two, 2, sizeof *two, compare);
  return two[0] - 1;
}
"""


def said_by(*words: str | Path, **more: str) -> str:
    return subprocess.run(words, env={**os.environ, **more}, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16, 24, 32, 33, 100])
def test_elements_are_compared_and_moved_as_by_the_library(tmp_path: Path, size: int) -> None:
    source, program = tmp_path / "orders.c", tmp_path / "orders"
    source.write_text(ORDERS)
    flags = ["-O1", "-D_GNU_SOURCE", f"-DSIZE={size}"]
    subprocess.run(["gcc", *flags, source, "-o", tmp_path / "native"], check=True)
    assert compiler.main([*flags, str(source), "-o", str(program)], "cc") == 0
    native = said_by(tmp_path / "native")
    assert said_by(program) == native
    assert said_by(f"{program}.twin", HOMENODE_WORK=str(tmp_path / "work")) == native
    assert said_by(f"{program}.timed") == native
    # the timed program has the library's own
    assert " U qsort@" in said_by("nm", f"{program}.timed")
    assert " U qsort@" not in said_by("nm", f"{program}.twin")


def test_sorting_without_memory(tmp_path: Path) -> None:
    text = """#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
void* no_memory(size_t bytes) { return (void)bytes, NULL; }
static int compare(const void* a, const void* b) { return *(const int*)a < *(const int*)b ? -1 : *(const int*)a > *(const int*)b; }
int main(void) {
  for (int n = 257; n < 5000; n = 2 * n + 1) {
    int* a = calloc(n, sizeof *a);
    unsigned state = 1;
    long sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i] = (int)((state = state * 1664525u + 1013904223u) >> 20);
    qsort(a, n, sizeof *a, compare);
    for (int i = 0; i < n; ++i) sum -= a[i];
    for (int i = 1; i < n; ++i) if (a[i - 1] > a[i]) return 1;
    if (sum) return 2;
    free(a);
  }
  return 0;
}
"""
    (tmp_path / "sorts.c").write_text(text)
    library = capture_runtime() / "library" / "qsort.c"
    subprocess.run(["gcc", "-O1", "-Dmalloc=no_memory", "-c", library, "-o", tmp_path / "qsort.o"], check=True)
    subprocess.run(["gcc", "-O1", tmp_path / "sorts.c", tmp_path / "qsort.o", "-o", tmp_path / "sorts"], check=True)
    subprocess.run([tmp_path / "sorts"], check=True)


def test_what_a_sort_accesses_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "below.c").write_text(BELOW)
    assert compiler.main(["-O2", str(tmp_path / "below.c"), "-o", str(tmp_path / "below")], "cc") == 0
    data, said, status = record([tmp_path / "below", "sort"], {})
    assert status == 0
    begin = int(said.split()[0], 16)
    found = [a for message in messages(data) for a in message.accesses if begin <= a.address < begin + 8]
    # two elements in order: both are compared, the first goes to the copy and comes back, the second stays; main reads it at the end
    assert [(a.kind, a.address - begin, a.width) for a in found] == [
        ("read", 0, 4),
        ("read", 4, 4),
        ("read", 0, 4),
        ("write", 0, 4),
        ("read", 0, 4),
    ]
    assert not any(
        "qsort" in loss["reason"] for loss in hn.capture(command=[str(tmp_path / "below")]).inspect()["losses"]
    )


def test_a_programs_own_sort_stays_its_own(tmp_path: Path) -> None:
    """Also where it takes another of the functions from the C library, which is no definition too many."""
    search = "  if (!bsearch(two + 1, two, 2, sizeof *two, compare)) return 7;\n  return two[0] - 1;\n"
    (tmp_path / "own.c").write_text(BELOW.replace("  return two[0] - 1;\n", search))
    (tmp_path / "sort.c").write_text(
        "#include <stdlib.h>\nvoid qsort(void* a, size_t n, size_t s, int (*c)(const void*, const void*)) "
        "{ (void)n, (void)s, (void)c; *(int*)a = 43, ((int*)a)[1] = 44; }\n"
    )
    files = [str(tmp_path / name) for name in ("own.c", "sort.c")]
    assert compiler.main(["-O2", "-fno-builtin", *files, "-o", str(tmp_path / "own")], "cc") == 0
    for kind in ("", ".twin", ".timed"):
        assert subprocess.run([f"{tmp_path / 'own'}{kind}", "sort"], check=False).returncode == 42, kind


def test_sorts_in_archives_and_shared_libraries(tmp_path: Path, homenode: Run) -> None:
    (tmp_path / "part.c").write_text(BELOW.replace("int main(", "int part("))
    (tmp_path / "main.c").write_text(
        "int part(int, char**);\nint main(int count, char** words) { return part(count, words); }\n"
    )
    assert homenode("cc", "-O2", "-fPIC", "-c", "part.c").status == 0
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=tmp_path, check=True)
    assert homenode("cc", "-O2", "main.c", "-L.", "-lpart", "-o", "archive").status == 0
    assert homenode("cc", "-shared", "part.o", "-o", "libshared.so").status == 0
    assert homenode("cc", "-O2", "main.c", f"{tmp_path}/libshared.so", "-o", "shared").status == 0
    for program in ("archive", "shared"):
        with_sort, without = (len(list(accesses(stream(tmp_path / program, *words)))) for words in (["sort"], []))
        assert with_sort - without >= 4, program


def test_objects_that_the_linker_compiles(tmp_path: Path, homenode: Run) -> None:
    (tmp_path / "later.c").write_text(BELOW)
    assert homenode("cc", "-O2", "-flto", "-c", "later.c").status == 0
    assert homenode("cc", "-O2", "-flto", "later.o", "-o", "later").status == 0
    assert homenode("capture", "--no-times", "-o", "later.hnt", "--", "./later", "sort").status == 0
    found = hn.Trace.open(tmp_path / "later.hnt").inspect()
    assert sum(region["reads"] for region in found["regions"]) >= 4
    assert not any("not instrumented" in loss["reason"] for loss in found["losses"])


@pytest.mark.parametrize("words", [["-lc"], ["-lm", "-lc"], ["-L.", "-l:libpart.a"]])
def test_sorts_wherever_the_c_library_stands_on_the_line(tmp_path: Path, homenode: Run, words: list[str]) -> None:
    (tmp_path / "part.c").write_text(BELOW)
    assert homenode("cc", "-O2", "-c", "part.c").status == 0
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=tmp_path, check=True)
    objects = [] if "-L." in words else ["part.o"]
    assert homenode("cc", "-O2", *objects, *words, "-o", "sorts").status == 0
    assert " U qsort@" not in said_by("nm", "-D", tmp_path / "sorts")


def test_a_sort_that_stays_the_c_librarys_is_a_loss(tmp_path: Path) -> None:
    source = tmp_path / "native.c"
    source.write_text(BELOW)
    subprocess.run(["gcc", "-O2", source, "-o", tmp_path / "native"], check=True)
    (loss,) = stand_ins.missed(tmp_path / "native")
    assert loss["reason"] == "what qsort does to memory is not recorded"


def test_links_of_other_languages_and_parts_of_programs(
    tmp_path: Path, homenode: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / f"{name}.c").write_text(BELOW.replace("int main(", f"int {name}("))
        assert homenode("cc", "-O2", "-c", f"{name}.c").status == 0
        assert homenode("cc", "-r", "-nostdlib", f"{name}.o", "-o", f"{name}_part.o").status == 0
    (tmp_path / "main.cpp").write_text(
        'extern "C" int one(int, char**), other(int, char**);\n'
        "int main(int n, char** w) { return one(n, w) + other(n, w); }\n"
    )
    monkeypatch.setenv("HOMENODE_GCC", "gcc-that-is-not-there")
    assert homenode("c++", "-O2", "main.cpp", "one.o", "other.o", "-o", "both").status == 0
    assert subprocess.run([tmp_path / "both", "sort"], check=False).returncode == 0
