"""`python -m homenode.compiler cc …`, likewise c++ and fortran."""

import sys

from homenode.compiler.driver import main
from homenode.compiler.languages import DRIVERS

if __name__ == "__main__":
    arguments = sys.argv[1:]
    named = arguments[:1] and arguments[0] in DRIVERS
    sys.exit(main(arguments[1:], arguments[0]) if named else main(arguments))
