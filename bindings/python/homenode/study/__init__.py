"""What-if studies: many runs as one value, kept on disk, and the questions that are asked of them."""

from homenode.study.results import StudyResults
from homenode.study.store import Store
from homenode.study.study import Study

__all__ = ["Store", "Study", "StudyResults"]
