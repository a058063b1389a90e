// What a page of homenode does: draws its figures in the reader's colours, sorts its tables, keeps a choice the same in all of them.
"use strict";
(async () => {
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

  const unpacked = async (name) => {
    const packed = document.getElementById(name);
    const stream = new Blob([bytesOf(packed.textContent, Number(packed.dataset.bytes))]).stream();
    return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).text();
  };

  // ---- sections of a long page

  const later = [...document.querySelectorAll(".later")];
  if (later.length > 0) {
    try {
      const texts = JSON.parse(await unpacked("page-sections"));
      later.forEach((place, number) => (place.innerHTML = texts[number]));
    } catch {
      for (const place of later) place.textContent = "This browser cannot unpack this section; one of 2023 or newer can.";
    }
  }

  // ---- choices: what is chosen in one table, figure or list is chosen in all of its group; the first until then

  const chosen = new Map();
  const choiceOf = (group) => chosen.get(group) ?? 0;

  // ---- figures

  const colours = () => (dark.matches ? { ink: "#e4e9ef", line: "#46525f" } : { ink: "#1c2733", line: "#d5dce3" });

  // Kept when `Plotly` is there, with the figures in the page's order; a page without figures has neither.
  const places = [...document.querySelectorAll(".plot")];
  const described = (async () => {
    if (places.length === 0) return new Map();
    const script = document.createElement("script");
    script.textContent = await unpacked("plot-library");
    document.head.append(script);
    return new Map(JSON.parse(await unpacked("plot-figures")));
  })();

  // Beside bars there is little room on a phone: a name's parts stand one below the other.
  const names = (texts, group, marked) => {
    const own = marked ? choiceOf(group) : -1;
    return texts.map((text, row) => {
      const whole = narrow.matches ? text.replaceAll(" · ", "<br>") : text;
      return row === own ? `<b>${whole}</b>` : whole;
    });
  };

  // The row of the choice, and in a matrix, which may be smaller than its paper, its column as well: in a frame.
  const frames = (place, layout, ink) => {
    const { group, marked } = place.dataset;
    const at = choiceOf(group);
    const line = { color: ink, width: 2 };
    const own = (axis) => ({ [`${axis}0`]: at - 0.5, [`${axis}1`]: at + 0.5 });
    const all = (axis) => ({ [`${axis}0`]: -0.5, [`${axis}1`]: layout.yaxis.ticktext.length - 0.5 });
    if (!marked) return [];
    if (marked === "rows") return [{ type: "rect", ...own("y"), xref: "paper", x0: 0, x1: 1, line }];
    return [
      { type: "rect", ...own("y"), ...all("x"), line },
      { type: "rect", ...own("x"), ...all("y"), line },
    ];
  };

  // What of a figure depends on the reader's colours, the window, and the choice.
  const present = (place, { layout }) => {
    const { ink, line } = colours();
    const { group, marked } = place.dataset;
    const axis = (name) => {
      const given = layout[name] ?? {};
      const texts = given.ticktext && { ticktext: names(given.ticktext, group, name === "yaxis" ? marked : marked === "both") };
      return { ...given, ...texts, gridcolor: line, linecolor: line, zerolinecolor: line };
    };
    const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name));
    const borders = (layout.shapes ?? []).map((shape) => ({ ...shape, line: { ...shape.line, color: ink } }));
    return {
      ...layout,
      ...Object.fromEntries(axes.map((name) => [name, axis(name)])),
      shapes: [...borders, ...frames(place, layout, ink)],
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: narrow.matches ? 11 : 13, color: ink },
    };
  };

  const isSeen = (place) => {
    const seen = place.dataset.choiceOf && JSON.parse(place.dataset.choiceOf);
    return seen && seen.map((choice) => choice === choiceOf(place.dataset.group));
  };

  const draw = async (place, figure) => {
    const seen = isSeen(place);
    const data = seen ? figure.data.map((trace, number) => ({ ...trace, visible: seen[number] })) : figure.data;
    // Where nothing hovers, a bar of buttons would cover the figure all the time.
    const displayModeBar = matchMedia("(hover: none)").matches ? false : "hover";
    const config = { responsive: true, displaylogo: false, displayModeBar, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
    await Plotly.newPlot(place, data, present(place, figure), config);
    place.on("plotly_click", ({ points: [point] }) => {
      if (place.dataset.marked) choose(place.dataset.group, Math.round(point.y));
    });
  };

  // One after the other, next the one that is nearest to what is read, so that a long page can be used meanwhile.
  const figures = places.map((place, number) => {
    const figure = { place, number };
    figure.drawn = new Promise((done, failed) => Object.assign(figure, { done, failed }));
    figure.drawn.catch(() => {});
    return figure;
  });
  const distance = ({ place }) => {
    const { top, bottom } = place.getBoundingClientRect();
    return Math.max(0, -bottom, top - window.innerHeight);
  };
  described.then(async (all) => {
    const waiting = new Set(figures);
    while (waiting.size > 0) {
      const next = [...waiting].reduce((one, other) => (distance(other) < distance(one) ? other : one));
      waiting.delete(next);
      await new Promise((done) => setTimeout(done));
      await draw(next.place, all.get(next.number)).then(() => next.done(all.get(next.number)), next.failed);
    }
  }, () => {});
  described.catch(() => {
    for (const { place } of figures) place.textContent = "This browser cannot unpack the figures; one of 2023 or newer can.";
  });

  const again = ({ place, drawn }) => {
    drawn.then((figure) => {
      const seen = isSeen(place);
      return Plotly.update(place, seen ? { visible: seen } : {}, present(place, figure));
    }, () => {});
  };

  for (const look of [dark, narrow]) look.addEventListener("change", () => figures.forEach(again));

  // ---- pictures of machines: the filled part of a core is work, that of a memory and the width of a link are traffic

  const views = [...document.querySelectorAll(".picture")];
  const machines = views.length === 0 ? Promise.resolve(null) : unpacked("machine-pictures").then(JSON.parse);

  const fill = (box, part, told) => {
    const filled = box.cloneNode(false);
    for (const name of ["data-core", "data-node"]) filled.removeAttribute(name);
    filled.setAttribute("class", "filled");
    filled.setAttribute("width", box.getAttribute("width") * part);
    box.after(filled);
    name(box, told);
  };

  const name = (part, told) => {
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = told;
    part.append(title);
  };

  const paint = (place, { pictures, views: all }) => {
    const { picture, choices } = all[views.indexOf(place)];
    const shown = choices[choiceOf(place.dataset.group)];
    place.innerHTML = pictures[picture];
    const memoryOf = (node) => {
      let box = place.querySelector(`[data-node="${node}"]`);
      while (box && box.getAttribute("class") !== "memory") box = box.nextElementSibling;
      return box;
    };
    const percent = (part) => `${Math.round(100 * part)} %`;
    for (const [core, part, threads] of shown.cores) {
      const told = `core ${core}, thread ${threads.join(", ")}: works ${percent(part)} of the run`;
      fill(place.querySelector(`[data-core="${core}"]`), part, told);
    }
    shown.memories.forEach(([part, moved], node) => fill(memoryOf(node), part, `memory of node ${node}: ${moved} MB`));
    for (const [link, part, there, back] of shown.links) {
      const arc = place.querySelector(`[data-link="${link}"]`);
      arc.style.strokeWidth = `${1 + 11 * part}px`;
      name(arc, `link ${link}: ${there} MB, back ${back} MB`);
    }
    place.nextElementSibling.textContent = shown.told;
  };

  const paintAll = (group) =>
    machines.then((all) => {
      for (const place of views) if (group === undefined || place.dataset.group === group) paint(place, all);
    });
  paintAll().catch(() => {
    for (const place of views) place.textContent = "This browser cannot unpack the picture; one of 2023 or newer can.";
  });

  // ---- what a choice changes

  const lists = [...document.querySelectorAll("select[data-group]")];
  const rows = [...document.querySelectorAll("tr[data-group]")];

  const mark = () => {
    for (const list of lists) list.selectedIndex = choiceOf(list.dataset.group);
    for (const row of rows) {
      const own = Number(row.dataset.choice) === choiceOf(row.dataset.group);
      row.classList.toggle("chosen", own);
      row.querySelector(".pick").setAttribute("aria-pressed", own);
    }
  };
  mark();

  const choose = (group, choice) => {
    if (choiceOf(group) === choice) return;
    chosen.set(group, choice);
    mark();
    for (const figure of figures) if (figure.place.dataset.group === group) again(figure);
    paintAll(group).catch(() => {});
  };

  for (const list of lists) list.addEventListener("change", () => choose(list.dataset.group, list.selectedIndex));
  for (const row of rows) row.addEventListener("click", () => choose(row.dataset.group, Number(row.dataset.choice)));

  // A list of one figure alone.
  for (const list of document.querySelectorAll("select[data-plot]")) {
    const { place, drawn } = figures.find((figure) => figure.place.id === list.dataset.plot);
    list.addEventListener("change", () => {
      const shown = JSON.parse(list.dataset.choiceOf).map((choice) => choice === list.selectedIndex);
      drawn.then(() => Plotly.restyle(place, { visible: shown }), () => {});
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
