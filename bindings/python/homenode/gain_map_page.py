"""The map of gains as a page, with the advice that it goes with."""

from homenode.advising import Advice
from homenode.gain_map import WORTH
from homenode.html_page import Page


def map_page(advice: Advice) -> Page:
    """The map as picture and table, with the advice that it goes with."""
    choice = advice.choice
    page = Page(f"homenode advise: {choice['machine']}, {choice['threads']} threads")
    page.text(f"Gain {advice.gain:.3f} ({advice.gain_low:.3f} … {advice.gain_high:.3f}); {advice.reason}.")
    table = advice.map
    halos, ratios = table["halo_share"].unique().tolist(), table["remote_ratio"].unique().tolist()
    gains = (
        table.pivot(index="halo_share", columns="remote_ratio", values="gain").loc[halos, ratios].to_numpy().tolist()
    )
    here = advice.here
    contour = {
        "type": "contour",
        "x": ratios,
        "y": [100 * halo for halo in halos],
        "z": [[100 * (gain - 1) for gain in row] for row in gains],
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "gain, %"}},
        "hovertemplate": "ratio %{x:.2f}, halo %{y:.3g} %: %{z:.2f} %<extra></extra>",
    }
    border = {
        "type": "contour",
        "x": ratios,
        "y": contour["y"],
        "z": contour["z"],
        "showscale": False,
        "contours": {"start": 100 * (WORTH - 1), "end": 100 * (WORTH - 1), "size": 1, "coloring": "none"},
        "line": {"color": "white", "width": 3},
        "name": "2 %",
        "hoverinfo": "skip",
    }
    point = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [here["remote_ratio"]],
        "y": [100 * here["halo_share"]],
        "text": ["here"],
        "textposition": "top center",
        "marker": {"size": 12, "color": "red"},
        "showlegend": False,
    }
    layout = {
        "title": {"text": "Gain of latency-weighted chunks, by the closed form; white: 2 %"},
        "xaxis": {"title": {"text": "remote / local latency"}},
        "yaxis": {"title": {"text": "halo share, %"}, "type": "log" if min(halos) > 0 else "linear"},
    }
    page.plot([contour, border, point], layout, height=560)
    rows = [
        [f"{100 * halo:.3g} %", *(f"{100 * (gain - 1):+.1f} %" for gain in row)]
        for halo, row in zip(halos, gains, strict=True)
    ]
    columns = ["halo share", *(f"{ratio:.2f}" for ratio in ratios)]
    page.table(columns, rows, right=columns)
    if advice.snippet:
        page.heading("The weights in C with OpenMP")
        page.code(advice.snippet)
    return page
