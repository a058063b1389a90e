"""Native runs of the kernels on the machine at hand, against replays on its calibrated description."""
