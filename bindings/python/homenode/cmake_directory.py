"""Where CMake finds homenode, for policies in C++: ``cmake -Dhomenode_DIR="$(python -m homenode.cmake_directory)" ...``."""

from homenode.resources import CMAKE

if __name__ == "__main__":
    print(CMAKE)
