"""Text from outside, fit for a terminal: the extension's one rule (sim/base/text.hpp) for what Python prints."""


def visible(text: str, limit: int | None = None) -> str:
    """The text on one line: control characters and bytes that are no UTF-8 as escapes, `limit` bytes of a longer one and '…'.

    Without the extension, which `homenode doctor` must do without, everything that is not ASCII is an escape.
    """
    try:
        from homenode._core import brief
    except ImportError:
        return ascii(text)[1:-1].replace("\\'", "'")[:limit]
    try:
        stored = text.encode(errors="surrogateescape")  # names of files and arguments, as the system gave them
    except UnicodeEncodeError:
        stored = text.encode(errors="backslashreplace")
    return brief(stored, limit)
