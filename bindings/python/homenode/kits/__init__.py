"""Kits: what measures a machine that homenode is not installed on, and what comes back of it (`homenode kit`, docs/kit.md)."""
