"""plotly.js as a page carries it: compressed, in digits that need no escape; `html_page.js` unpacks it (decision 0037)."""

from __future__ import annotations

import base64
import functools
import zlib


@functools.cache
def packed_library() -> str:
    """The script element that holds the library of the installed Plotly; nothing runs until `html_page.js` has unpacked it."""
    from plotly.offline import get_plotlyjs

    packed = zlib.compress(get_plotlyjs().encode("utf-8"), 9)
    # "<" could end the element or begin a comment; "/" is no digit of this code.
    digits = base64.b85encode(packed, pad=True).decode("ascii").replace("<", "/")
    return f'<script type="text/plain" id="plot-library" data-bytes="{len(packed)}">{digits}</script>\n'
