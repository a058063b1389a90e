"""`homenode c++`: in place of the C++ compiler."""

from homenode.cli.cc import drop_in

command = drop_in("c++", "g++")
