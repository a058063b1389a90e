"""The same C programs in a real Linux of several NUMA nodes and in the model: where pages go, never times.

QEMU emulates the nodes; inside the guest each costs the same.
"""
