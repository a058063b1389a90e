"""Text from outside, fit for a terminal: the extension's one rule (sim/base/text.hpp) for what Python prints."""

from homenode import _core


def visible(text: str, limit: int | None = None) -> str:
    """The text on one line: control characters and bytes that are no UTF-8 as escapes, `limit` bytes of a longer one and '…'."""
    try:
        stored = text.encode(errors="surrogateescape")  # names of files and arguments, as the system gave them
    except UnicodeEncodeError:
        stored = text.encode(errors="backslashreplace")
    return _core.brief(stored, limit)
