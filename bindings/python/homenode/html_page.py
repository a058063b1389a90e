"""A page in one HTML file that needs no network: text, tables, and plots drawn by the plotly.js that it carries."""

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: .2em .8em; text-align: left; }
th { border-bottom: 2px solid #888; } tr:nth-child(even) { background: #f4f4f4; } .right { text-align: right; }
.plot { width: 100%; } pre { background: #f4f4f4; padding: .8em; overflow: auto; }
"""


class Page:
    """Collects its parts in order; equal parts give equal bytes."""

    def __init__(self, title: str) -> None:
        """`title` is the window's and the heading."""
        self._title = title
        self._parts: list[str] = []
        self.figures: list[dict[str, Any]] = []

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def code(self, text: str) -> None:
        """Add lines as they are."""
        self._parts.append(f"<pre>{html.escape(text)}</pre>")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> None:
        """Add a table; columns named in `right` are right-aligned."""
        side = [' class="right"' if column in right else "" for column in columns]

        def row(cells: Sequence[object], tag: str) -> str:
            inner = (f"<{tag}{place}>{html.escape(str(cell))}</{tag}>" for place, cell in zip(side, cells, strict=True))
            return f"<tr>{''.join(inner)}</tr>"

        body = "\n".join(row(cells, "td") for cells in rows)
        self._parts.append(f"<table>\n{row(columns, 'th')}\n{body}\n</table>")

    def plot(self, data: list[dict[str, Any]], layout: dict[str, Any], height: int = 420) -> None:
        """Add a Plotly figure: `data` and `layout` are those of plotly.js."""
        figure = {"data": data, "layout": {"height": height, "margin": {"t": 60}, **layout}}
        name = f"plot-{len(self.figures)}"
        self.figures.append(figure)
        # "</" would end the script element; in JSON text "<\/" is the same.
        text = json.dumps(figure, allow_nan=False).replace("</", "<\\/")
        self._parts.append(
            f'<div class="plot" id="{name}"></div>\n'
            f"<script>{{ const figure = {text}; "
            f'Plotly.newPlot("{name}", figure.data, figure.layout, {{responsive: true}}); }}</script>'
        )

    def to_html(self) -> str:
        """The whole file."""
        library = ""
        if self.figures:
            from plotly.offline import get_plotlyjs

            library = f"<script>{get_plotlyjs()}</script>\n"
        title = html.escape(self._title)
        body = "\n".join(self._parts)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
            f"<style>{_STYLE}</style>\n{library}</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
        )
