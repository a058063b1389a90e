"""An example of each command, for the end of its help. tests/python/test_help.py holds them against the commands' options."""

EXAMPLES = {
    "kernels": ("homenode kernels",),
    "capture": (
        "homenode capture hotspot --set size=512 -o hotspot.hnt",
        "homenode capture -o fill.hnt -- ./fill 1000",
    ),
    "classify": ("homenode classify threads_mix", "homenode classify main.c work.c -- -O2 -lm"),
    "import": ("homenode import csv accesses.csv -o accesses.hnt",),
    "extrapolate": ("homenode extrapolate j40.hnt j48.hnt j56.hnt \\\n    --check j72.hnt --set n=8192 -o j8192.hnt",),
    "inspect": ("homenode inspect hotspot.hnt", "homenode inspect hotspot.hnt --threads"),
    "check": ("homenode check hotspot.hnt",),
    "recover": ("homenode recover hotspot.hnt.part -o hotspot.hnt",),
    "machines": (
        "homenode machines",
        "homenode machines xeon-x7560-4s --sources",
        "homenode machines xeon-x7560-4s --svg x7560.svg",
    ),
    "systems": ("homenode systems linux-6.1",),
    "machine": ("homenode machine detect -o host.toml",),
    "machine detect": ("homenode machine detect -o host.toml",),
    "machine calibrate": ("homenode machine calibrate --quick -o host.toml",),
    "machine import": (
        "homenode machine import machine.xml mlc.txt -o machine.toml",
        "homenode machine import --name chiplets -o chiplets.toml \\\n"
        "    --synthetic 'Package:2 [NUMANode] L3Cache:2 Core:8 PU:1'",
    ),
    "machine compare": ("homenode machine compare xeon-x7560-4s opteron-8431-4s",),
    "machine loaded-latency": ("homenode machine loaded-latency xeon-x5550-2s -o curve.html",),
    "machine latency-map": ("homenode machine latency-map knc-5110p --blocks 64 -o map.html",),
    "kit": ("homenode kit -o homenode-kit.tar.gz", "homenode kit --size tiny --kernel stream -o trial.tar.gz"),
    "kit import": ("homenode kit import homenode-kit-node17.jsonl -o node17.toml",),
    "policies": ("homenode policies placement", "homenode policies bind"),
    "recommend": (
        "homenode recommend -- ./fill 1000",
        "homenode recommend hotspot.hnt --machine xeon-x7560-4s",
        "homenode recommend hotspot --set size=512 --machine xeon-x7560-4s",
    ),
    "replay": (
        "homenode replay hotspot.hnt --machine xeon-x7560-4s --threads 8,32 \\\n"
        "    --placement first-touch --placement interleave --explain",
        "homenode replay hotspot.hnt --machine xeon-x7560-4s --threads 32 \\\n"
        "    --change 'link_bandwidth=10 GB/s' --change 'link_bandwidth=25 GB/s'",
        "homenode replay hotspot.hnt --machine host.toml --threads 8 --rank-by sweep",
    ),
    "sweep": (
        "homenode sweep links.toml -o links.parquet",
        "homenode sweep links.toml --break-even link_bandwidth --compare placement",
    ),
    "anchor": ("homenode anchor hotspot.hnt --machine host.toml",),
    "map": ("homenode map hotspot.hnt --machine xeon-x5550-2s --threads 8 --as omp-places",),
    "advise": ("homenode advise hotspot.hnt --machine xeon-x5550-2s --threads 8 --all",),
    "report": (
        "homenode report report.json -o report.html",
        "homenode report before.json --against after.json -o both.html",
    ),
    "validate": ("homenode validate published --small",),
    "doctor": ("homenode doctor",),
}


def epilog(command: str) -> str:
    """The end of a command's help; its lines are not wrapped."""
    examples = EXAMPLES.get(command, ())
    return "\n".join(
        [
            "\b",
            "Examples:" if len(examples) > 1 else "Example:",
            *(f"  {line}" for example in examples for line in example.splitlines()),
        ]
    )
