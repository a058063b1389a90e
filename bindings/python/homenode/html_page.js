// What a page of homenode does: draws its figures in the reader's colours, sorts its tables, keeps its lists of choices together.
"use strict";
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 40rem)");

  // ---- packed texts: in digits of base 85, five of which are four bytes (packed_text.py)

  const DIGITS =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;/=>?@^_`{|}~";

  const bytesOf = (digits, length) => {
    const values = new Uint8Array(128);
    [...DIGITS].forEach((digit, value) => (values[digit.charCodeAt(0)] = value));
    const bytes = new DataView(new ArrayBuffer((digits.length / 5) * 4));
    for (let from = 0, to = 0; from < digits.length; from += 5, to += 4) {
      let word = 0;
      for (let place = from; place < from + 5; place += 1) word = word * 85 + values[digits.charCodeAt(place)];
      bytes.setUint32(to, word);
    }
    return new Uint8Array(bytes.buffer, 0, length);
  };

  const unpacked = (name) => {
    const packed = document.getElementById(name);
    const stream = new Blob([bytesOf(packed.textContent, Number(packed.dataset.bytes))]).stream();
    return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).text();
  };

  // ---- figures

  const colours = () => (dark.matches ? { ink: "#e4e9ef", line: "#46525f" } : { ink: "#1c2733", line: "#d5dce3" });

  const inColours = (layout) => {
    const { ink, line } = colours();
    const changes = { "font.color": ink };
    for (const axis of ["xaxis", "yaxis"]) {
      if (!layout[axis]) continue;
      changes[`${axis}.gridcolor`] = line;
      changes[`${axis}.linecolor`] = line;
      changes[`${axis}.zerolinecolor`] = line;
    }
    return changes;
  };

  // Kept when `Plotly` is there, with the figures in the page's order; a page without figures has neither.
  const places = [...document.querySelectorAll(".plot")];
  const described = (async () => {
    if (places.length === 0) return [];
    const script = document.createElement("script");
    script.textContent = await unpacked("plot-library");
    document.head.append(script);
    return JSON.parse(await unpacked("plot-figures"));
  })();

  const draw = async (place, { data, layout }) => {
    const whole = {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: narrow.matches ? 11 : 13, color: colours().ink },
    };
    const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
    await Plotly.newPlot(place, data, whole, config);
    await Plotly.relayout(place, inColours(layout));
    return layout;
  };

  const figures = places.map((place, number) => ({
    place,
    drawn: described.then((all) => draw(place, all[number])),
  }));
  described.catch(() => {
    for (const { place } of figures) place.textContent = "This browser cannot unpack the figures; one of 2023 or newer can.";
  });

  dark.addEventListener("change", () => {
    for (const { place, drawn } of figures) {
      drawn.then((layout) => Plotly.relayout(place, inColours(layout)), () => {});
    }
  });

  // ---- lists: what is chosen in one is chosen in all of its group

  const lists = [...document.querySelectorAll("select[data-plot]")];

  const show = (list) => {
    const { place, drawn } = figures.find((figure) => figure.place.id === list.dataset.plot);
    const shown = JSON.parse(list.dataset.choiceOf).map((choice) => choice === list.selectedIndex);
    drawn.then(() => Plotly.restyle(place, { visible: shown }), () => {});
  };

  for (const list of lists) {
    list.addEventListener("change", () => {
      for (const other of lists) {
        if (other !== list && other.dataset.group !== list.dataset.group) continue;
        other.selectedIndex = list.selectedIndex;
        show(other);
      }
    });
  }

  // ---- tables: a column's heading sorts by it, again the other way round; what is no number stays below

  const number = (cell) => {
    const found = parseFloat(cell.textContent.replace(/[,\s]/g, ""));
    return Number.isNaN(found) ? null : found;
  };

  const byNumber = (one, other, sign) => {
    const [first, second] = [number(one), number(other)];
    if (first === null || second === null) return (first === null) - (second === null);
    return sign * (first - second);
  };

  const words = new Intl.Collator("en", { numeric: true });

  const sortBy = (table, head, column) => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const body = table.tBodies[0];
    const compare = (one, other) => {
      const [first, second] = [one.cells[column], other.cells[column]];
      if (head.classList.contains("right")) return byNumber(first, second, sign);
      return sign * words.compare(first.textContent, second.textContent);
    };
    body.append(...[...body.rows].sort(compare));
    for (const one of head.parentElement.cells) one.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  };

  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => sortBy(table, head, column));
    });
  }
})();
