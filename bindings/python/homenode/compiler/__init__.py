"""The drop-in compilers: `homenode cc …`, `homenode c++ …` and `homenode fortran …` in place of gcc, g++ and gfortran compile any
program for tracing, with a twin that counts its work.
"""

from homenode.compiler.driver import main

__all__ = ["main"]
