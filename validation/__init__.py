"""Held against reality: published results and native runs. Uses the public `homenode` package only.

Every case compares a figure of the model with a reference that stands in a CSV file with its source, or with a run on
the machine at hand. What disagrees is listed in DEVIATIONS.md, with its size and its mechanism.
"""
