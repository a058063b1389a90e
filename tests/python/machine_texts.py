"""Files of other tools, made up by hand for the tests of `homenode machine import`: no figure in them was measured."""

from __future__ import annotations

import ctypes
import ctypes.util

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def core(number: int, caches: str = "") -> str:
    unit = f'<object type="Core" os_index="{number}"><object type="PU" os_index="{number}"/></object>'
    shape = 'cache_linesize="64" cache_associativity="8" cache_type="1"'
    return f'<object type="L1Cache" cache_size="32768" depth="1" {shape}>{unit}</object>{caches}\n'


def package(number: int, cores: int, nodes: str, inside: str = "") -> str:
    first = number * cores
    listed = "".join(core(first + one) for one in range(cores))
    shape = 'depth="3" cache_linesize="64" cache_associativity="16" cache_type="0"'
    return (
        f'<object type="Package" os_index="{number}"><info name="CPUModel" value="Made up CPU @ 2.50GHz"/>\n{nodes}'
        f'<object type="L3Cache" cache_size="16777216" {shape}>{inside}\n{listed}</object></object>\n'
    )


def node(number: int, gigabytes: int = 4, subtype: str = "") -> str:
    kind = f' subtype="{subtype}"' if subtype else ""
    return f'<object type="NUMANode" os_index="{number}" gp_index="{100 + number}"{kind} local_memory="{gigabytes << 30}"/>\n'


def hwloc_xml(packages: str, after: str = "", version: str = "2.0") -> str:
    return f'{HEAD}<topology version="{version}">\n<object type="Machine" os_index="0">\n{packages}</object>\n{after}</topology>\n'


def distances(values: list[list[int]]) -> str:
    count = len(values)
    numbers = " ".join(str(value) for row in values for value in row)
    indexes = " ".join(map(str, range(count)))
    return (
        f'<distances2 type="NUMANode" nbobjs="{count}" kind="5" name="NUMALatency" indexing="os">'
        f"<indexes>{indexes} </indexes><u64values>{numbers} </u64values></distances2>\n"
    )


TWO_SOCKETS = hwloc_xml(package(0, 4, node(0)) + package(1, 4, node(1)), distances([[10, 21], [21, 10]]))

MLC = """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
\t\tNuma node
Numa node\t     0\t     1\t
       0\t  80.0\t 130.0\t
       1\t 134.0\t  82.0\t

Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
ALL Reads        :\t200000.0\t
3:1 Reads-Writes :\t180000.0\t
2:1 Reads-Writes :\t170000.0\t
1:1 Reads-Writes :\t150000.0\t
Stream-triad like:\t160000.0\t

Measuring Memory Bandwidths between nodes within system
\t\tNuma node
Numa node\t     0\t     1\t
       0\t100000.0\t32000.0\t
       1\t31000.0\t101000.0\t

Measuring Loaded Latencies for the system
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t250.00\t 190000.0
 00050\t240.00\t 200000.0
 00100\t160.00\t 180000.0
 00300\t100.00\t 100000.0
 20000\t 81.00\t   4000.0

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t40.0
Local Socket L2->L2 HITM latency\t44.0
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 110.0\t
            1\t 112.0\t     -\t
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 170.0\t
            1\t 172.0\t     -\t
"""

NUMACTL = """available: 2 nodes (0-1)
node 0 cpus: 0 1 2 3
node 0 size: 4096 MB
node 0 free: 100 MB
node 1 cpus: 4 5 6 7
node 1 size: 4096 MB
node 1 free: 100 MB
node distances:
node   0   1
  0:  10  20
  1:  20  10
"""

KERNCRAFT = """kerncraft version: 0.8.0
model name: Made up CPU
clock: 2.0 GHz
sockets: 2
cores per socket: 4
threads per core: 2
NUMA domains per socket: 1
cores per NUMA domain: 4
FLOPs per cycle:
  DP: {total: 8, ADD: 4, MUL: 4}
compiler: !!omap
- gcc: -O3
memory hierarchy:
- level: L1
  cache per group: {sets: 64, ways: 8, cl_size: 64}
  cores per group: 1
  upstream throughput: [architecture code analyzer, [2D, 3D]]
- level: L2
  cache per group: {sets: 512, ways: 8, cl_size: 64}
  cores per group: 1.0
  upstream throughput: [32 B/cy, half-duplex]
- level: L3
  cache per group: {sets: 8192, ways: 16, cl_size: 64 B}
  cores per group: 4
  upstream throughput: [16 B/cy, half-duplex]
- level: MEM
  cores per group: 4
benchmarks:
  measurements:
    MEM:
      1:
        cores: [1, 2, 3, 4]
        results:
          load: [12.00 GB/s, 24.00 GB/s, 35.00 GB/s, 40.00 GB/s]
          update: [12.00 GB/s, 20.00 GB/s, 28.00 GB/s, 30.00 GB/s]
          triad: [12.00 GB/s, 20.00 GB/s, 28.00 GB/s, 30.00 GB/s]
"""


def lstopo_xml(synthetic: str) -> str:
    """What `lstopo -i SYNTHETIC --of xml` prints: the library's own export, which lstopo calls."""
    name = ctypes.util.find_library("hwloc")
    assert name is not None  # the extension needs it, too
    hwloc = ctypes.CDLL(name)
    topology, buffer, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    hwloc.hwloc_topology_export_xmlbuffer.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(ctypes.c_int),
        ctypes.c_ulong,
    ]
    for function in (hwloc.hwloc_topology_load, hwloc.hwloc_topology_destroy):
        function.argtypes = [ctypes.c_void_p]
    hwloc.hwloc_topology_set_synthetic.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    hwloc.hwloc_free_xmlbuffer.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    assert hwloc.hwloc_topology_init(ctypes.byref(topology)) == 0
    try:
        assert hwloc.hwloc_topology_set_synthetic(topology, synthetic.encode()) == 0, synthetic
        assert hwloc.hwloc_topology_load(topology) == 0
        assert hwloc.hwloc_topology_export_xmlbuffer(topology, ctypes.byref(buffer), ctypes.byref(length), 0) == 0
        text = ctypes.string_at(buffer, length.value).rstrip(b"\0").decode()
        hwloc.hwloc_free_xmlbuffer(topology, buffer)
        return text
    finally:
        hwloc.hwloc_topology_destroy(topology)
