"""Which line of the source each instruction of gcc's assembly belongs to."""

import re

_LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')


class SourcePlaces:
    """Follows the directives `.file` and `.loc`; give it each statement in turn."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self.file: str | None = None
        self.line = 0

    def take(self, statement: str) -> bool:
        """Whether the statement is one of those directives."""
        if location := _LOCATION.match(statement):
            self.file, self.line = self._files.get(location[1]), int(location[2])
        elif file := _FILE.match(statement):
            self._files[file[1]] = file[3] if file[3] is not None else file[2]
        else:
            return False
        return True
