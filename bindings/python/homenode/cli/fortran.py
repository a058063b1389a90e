"""`homenode fortran`: in place of the Fortran compiler."""

from homenode.cli.cc import drop_in

command = drop_in("fortran", "gfortran")
