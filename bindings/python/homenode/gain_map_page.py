"""The map of gains as a page, with the advice that it goes with."""

from homenode.advising import Advice
from homenode.gain_map import WORTH
from homenode.html_page import Page


def percent(gain: float) -> str:
    """A gain as command line and page tell it."""
    return f"{100 * (gain - 1):+.1f} %"


def _plot_map(page: Page, advice: Advice, halos: list[float], ratios: list[float], gains: list[list[float]]) -> None:
    """The map as contours, with the border of 2 % and this program's place."""
    here = advice.here
    z = [[100 * (gain - 1) for gain in row] for row in gains]
    worth, least, most = 100 * (WORTH - 1), min(map(min, z)), max(map(max, z))
    contour = {
        "type": "contour",
        "x": ratios,
        "y": [100 * halo for halo in halos],
        "z": z,
        "zmin": min(0.0, least),  # so that small differences do not look like cliffs
        "zmax": max(2 * worth, most),
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "at most, %"}},
        "hovertemplate": "ratio %{x:.2f}, halo %{y:.3g} %: %{z:.2f} %<extra></extra>",
    }
    border = {
        "type": "contour",
        "x": ratios,
        "y": contour["y"],
        "z": contour["z"],
        "showscale": False,
        "contours": {"start": worth, "end": worth, "size": 1, "coloring": "none"},
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
        "textfont": {"color": "#ffffff", "size": 15},
        # white on the dark end of the scale, red with a white rim on the light one
        "marker": {"size": 13, "color": "#D55E00", "line": {"color": "#ffffff", "width": 2}},
        "showlegend": False,
    }
    crosses = least < worth < most
    line = "white: 2 %" if crosses else f"{'above' if least >= worth else 'below'} 2 % everywhere"
    layout = {
        "title": {"text": f"Upper bound of the gain of latency-weighted chunks ({line})"},
        "xaxis": {"title": {"text": "remote / local latency"}},
        "yaxis": {
            "title": {"text": "halo share, %"},
            "type": "log" if min(halos) > 0 else "linear",
            "tickvals": [100 * halo for halo in halos],
            "ticktext": [f"{100 * halo:.3g}" for halo in halos],
        },
    }
    note = (
        "Across: how much longer a load from another node takes than one from the own node. Upwards: the share of what a thread reads "
        "that another thread writes. Colour: the most that weights can gain there; 'here' is this program on this machine."
    )
    page.heading("Map")
    figures = [contour, *([border] if crosses else []), point]
    page.plot(figures, layout, height=560, meaning=note, words=("local, remote",))


def map_page(advice: Advice, made_by: str | None = None) -> Page:
    """The map as picture and table, with the advice that it goes with. `made_by`: the command."""
    choice = advice.choice
    page = Page(f"homenode advise: {choice['machine']}, {choice['threads']} threads")
    gain, low, high = (percent(one) for one in (advice.gain, advice.gain_low, advice.gain_high))
    by = "replays" if advice.engine == "flow" else "the closed form"
    page.lead(f"Unequal chunks gain {gain} ({low} … {high}) by {by}: {advice.reason}.")
    page.text(
        f"The map shows upper bounds, by the closed form, over equal chunks: at most {percent(advice.gain_bound)} here. "
        "The closed form is an estimate without replays. The halo share is the share of the bytes that a thread reads that another one "
        "writes. "
        "The map tells where weights cannot pay off, not that they do."
    )
    table = advice.map
    halos, ratios = table["halo_share"].unique().tolist(), table["remote_ratio"].unique().tolist()
    gains = (
        table.pivot(index="halo_share", columns="remote_ratio", values="gain").loc[halos, ratios].to_numpy().tolist()
    )
    _plot_map(page, advice, halos, ratios, gains)
    rows = [[f"{100 * halo:.3g} %", *(percent(gain) for gain in row)] for halo, row in zip(halos, gains, strict=True)]
    columns = ["halo share", *(f"{ratio:.2f}" for ratio in ratios)]
    meanings = {"halo share": "Of the bytes that a thread reads, the share that another thread of the team writes."}
    meanings |= {column: f"The bound where far memory takes {column} times as long as near." for column in columns[1:]}
    page.table(columns, rows, right=columns, meanings=meanings)
    if advice.snippet and advice.pays_off:
        page.heading("The weights in C with OpenMP")
        page.code(advice.snippet)
    page.command(made_by)
    return page
