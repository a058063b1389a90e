"""Long texts as a page carries them: compressed, in digits that need no escape; `html_page.js` unpacks them (decision 0037)."""

from __future__ import annotations

import base64
import functools
import zlib


def packed(text: str, name: str) -> str:
    """A script element that holds a text; nothing runs until `html_page.js` has unpacked it, by this name."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    content = deflate.compress(text.encode("utf-8")) + deflate.flush()
    # "<" could end the element or begin a comment; "/" is no digit of this code.
    digits = base64.b85encode(content, pad=True).decode("ascii").replace("<", "/")
    return f'<script type="text/plain" id="{name}" data-bytes="{len(content)}">{digits}</script>\n'


@functools.cache
def packed_library() -> str:
    """The plotly.js of the installed Plotly."""
    from plotly.offline import get_plotlyjs

    return packed(get_plotlyjs(), "plot-library")
