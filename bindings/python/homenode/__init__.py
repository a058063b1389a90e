"""homenode: where pages, threads and chunks of work should live on a NUMA machine, told from a trace of the program.

import homenode as hn
trace = hn.capture("jacobi3d", ni=96, nj=96, nk=96)
machine = hn.Machine.load("xeon-x7560-4s").with_changes(link_bandwidth="25 GB/s")
result = hn.replay(trace, machine, threads=32, placement="first-touch", distribution="static")
"""

from typing import Any

from homenode import errors

try:
    from homenode._core import version as __version__
except ImportError as error:
    # `homenode doctor` runs nevertheless and says what is missing; whoever asks for a name hears why there is none.
    _reason = f"homenode's extension cannot be loaded: {error}; 'homenode doctor' lists what is missing"

    def __getattr__(name: str) -> Any:
        raise (AttributeError if name.startswith("__") else ImportError)(_reason)

else:
    from homenode._core import use_core_model, use_simgrid_module
    from homenode.resources import cache_directory, core_model, simgrid_module

    use_core_model(str(core_model() or ""), str(cache_directory() / "core"))
    use_simgrid_module(str(simgrid_module() or ""))
    from homenode.advising import Advice, advise
    from homenode.anchoring import Anchor, AnchoredPart, anchor
    from homenode.balancing import BalancedTime, balanced
    from homenode.capturing import capture
    from homenode.classifying import classify
    from homenode.confidence import Ranking, rank
    from homenode.energy import EnergyModel
    from homenode.estimating import Estimate, RegionEstimate, estimate
    from homenode.extensions import load_extension
    from homenode.extrapolating import extrapolate
    from homenode.grids import replay_grid
    from homenode.heap_to_manage import Allocation, Heap, Release
    from homenode.kernel_sources import Kernel, kernels
    from homenode.loop_to_share import Loop
    from homenode.machine import Machine
    from homenode.machine_files.importing import Imported, import_machine
    from homenode.map_suggestion import MapSuggestion, suggest_mapping, thread_map
    from homenode.page_faults import PageFaults
    from homenode.page_uses import MappedPages, PageUses, Place
    from homenode.policies import heap_manager, page_placement, policies, thread_mapping, work_distribution
    from homenode.program_changes import Change, program_changes
    from homenode.recommended_commands import SourceChange
    from homenode.recommending import Choice, Recommendation, recommend
    from homenode.replaying import replay
    from homenode.report import report_schema
    from homenode.result import Result
    from homenode.run_spec import RunSpec, grid
    from homenode.study import Store, Study, StudyResults
    from homenode.system import System
    from homenode.thread_map import MappedThread
    from homenode.threads_to_map import ThreadsToMap
    from homenode.trace import Trace

__all__ = [
    "Advice",
    "Allocation",
    "Anchor",
    "AnchoredPart",
    "BalancedTime",
    "Change",
    "Choice",
    "EnergyModel",
    "Estimate",
    "Heap",
    "Imported",
    "Kernel",
    "Loop",
    "Machine",
    "MapSuggestion",
    "MappedPages",
    "MappedThread",
    "PageFaults",
    "PageUses",
    "Place",
    "Ranking",
    "Recommendation",
    "RegionEstimate",
    "Release",
    "Result",
    "RunSpec",
    "SourceChange",
    "Store",
    "Study",
    "StudyResults",
    "System",
    "ThreadsToMap",
    "Trace",
    "__version__",
    "advise",
    "anchor",
    "balanced",
    "capture",
    "classify",
    "errors",
    "estimate",
    "extrapolate",
    "grid",
    "heap_manager",
    "import_machine",
    "kernels",
    "load_extension",
    "page_placement",
    "policies",
    "program_changes",
    "rank",
    "recommend",
    "replay",
    "replay_grid",
    "report_schema",
    "suggest_mapping",
    "thread_map",
    "thread_mapping",
    "work_distribution",
]
