"""`python -m homenode.compiler cc …`."""

import sys

from homenode.compiler.driver import main

if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main(arguments[1:] if arguments[:1] == ["cc"] else arguments))
