"""homenode: where pages, threads and chunks of work should live on a NUMA machine."""

from homenode import errors

__all__ = ["errors"]
