"""The words of a page that need a sentence: as docs/glossary.md has them, word for word (a test holds both together)."""

WORDS = {
    "region": "a loop, a set of tasks, a single, a section, a thread's routine, or the serial code between them",
    "object": "a heap block, a global, a stack frame, thread-local or mapped memory; accesses are object and offset",
    "home node": "the node whose memory holds a page",
    "NUMA node": "cores and memory at one distance from each other",
    "initiator node": "the node of the core that asks for a line",
    "memory controller": "serves the memory of a node; its time is shared by all that use it",
    "link, link direction, hop": "a connection of sockets or hubs; each direction has its own bandwidth; one link on a route",
    "local, remote": "home on the thread's own node, or on another",
    "hit, miss": "a line that a cache level holds, or not",
    "outstanding misses": "how many misses a core has under way at once (memory-level parallelism)",
    "core time": "time of the instructions if every access hit L1, set by the busiest execution pipe",
    "team, fork, barrier": "the threads of a parallel construct; their start; their meeting",
    "first touch": "placement on the node of the thread that first writes the page",
    "bound by": "the resource that the work of a region waited for longest",
    "rank": "place by time among comparable runs; `bound` where nobody can run it (`optimal`)",
    "regret": "time over the time of the best comparable run, less one; a bound (`optimal`) is no run to compare with",
    "interval": "5th to 95th percentile over sampled machines, widened if need be to hold the result on the machine as described",
    "choice": "the choices in which the runs of a page differ",
    "time": "simulated time of the whole program",
    "idle": "of the page: share of the threads' time in which they do not work",
    "energy model": "watts of cores, caches, controllers and links at work and at rest, of which a run's energy is the sum over time",
    "assumed": "a number that no source gives; a choice of ours, so marked",
}
"""A word, or words that the glossary has in one row, and what it means."""

_OF_COLUMNS = {
    "remote pages": "home node",
    "remote traffic": "local, remote",
    "90 % interval": "interval",
    "first bound by": "bound by",
    "second bound by": "bound by",
    "first rank": "rank",
    "second rank": "rank",
    "best choice": "rank",
    "ranked time": "time",
    "first time": "time",
    "second time": "time",
    "first ranked time": "time",
    "second ranked time": "time",
    "second / first": "time",
    "machine and team": "team, fork, barrier",
    "over the fastest": "regret",
    "choices": "choice",
    "bound by": "bound by",
}


def word_of_column(column: str) -> str | None:
    """The word that explains a column; None of a column whose own sentence is enough."""
    return column if column in WORDS else _OF_COLUMNS.get(column)


def anchor(word: str) -> str:
    """Where a page has the word: ``word-home-node``."""
    return "word-" + word.replace(", ", "-").replace(" ", "-").lower()
