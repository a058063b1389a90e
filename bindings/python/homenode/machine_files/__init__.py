"""Descriptions of machines from the files of other tools: hwloc, Intel MLC, numactl, kerncraft, tables and curves."""
