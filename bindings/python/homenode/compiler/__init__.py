"""The drop-in compiler: `homenode cc …` in place of gcc compiles any C program for tracing, with a twin that counts its work."""

from homenode.compiler.driver import main

__all__ = ["main"]
