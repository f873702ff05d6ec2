// Draws the charts from the JSON beside them. Everything that it shows is in the page's tables too.
(() => {
  "use strict";

  const root = document.documentElement;
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
  const HEIGHT = 230;
  // More markers than this would be a line.
  const MOST_MARKERS = 70;
  // Marks without a line, and ranges along x.
  const POINTS = ["dots", "hollow"];
  const UPRIGHT = ["warmup", "partial", "bracket6", "bracket4"];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 2], [8, 2, 2, 2]];

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const three = (v) => String(Number(v.toPrecision(3)));
  const minus = (text) => text.replace("-", "−");
  const scaled = (v, units) => {
    const size = Math.abs(v);
    const [scale, unit] = units.find(([scale]) => size >= scale * 0.9995) ?? units.at(-1);
    return `${three(v / scale)} ${unit}`;
  };

  const US = [[1e6, "s"], [1e3, "ms"], [1, "us"]];
  const BYTES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
  const BITS = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "bit/s"]];
  const percent = (share) => `${Number((share * 100).toPrecision(6))} %`;
  const WRITE = {
    us: (v) => scaled(v, US),
    s: (v) => `${three(v)} s`,
    per_s: (v) => (v >= 1000 ? Math.round(v).toLocaleString("en") : three(v)),
    bytes_per_s: (v) => scaled(v, BYTES) + "/s",
    bytes: (v) => scaled(v, BYTES),
    bits_per_s: (v) => scaled(v, BITS),
    plain: (v, { y }) => `${minus(v >= 1000 ? Math.round(v).toLocaleString("en") : String(Number(v.toPrecision(4))))} ${y.suffix}`,
    label: (v, { xs, labels }) => labels[xs.indexOf(v)] ?? "",
    share: (v) => percent(Number(v.toFixed(6))),
    change: (v) => minus(`${v > 0 ? "+" : ""}${Number((v * 100).toFixed(2)).toLocaleString("en")} %`),
    tail: (v) => percent(Number((1 - 1 / v).toFixed(9))),
    count: (v) => (Number.isInteger(v) ? v.toLocaleString("en") : ""),
  };

  // Where a logarithmic axis has lines: 1, 2, 5, 10, or fewer where there is no room, or more where
  // it covers less than a factor of ten.
  const logSplits = (from, to, most) => {
    const fine = to / from < 10 ? [[1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 6, 8]] : [];
    for (const steps of [...fine, [1, 2, 5], [1, 3], [1]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++) {
        for (const step of steps) {
          const at = step * 10 ** power;
          if (at >= from && at <= to) found.push(at);
        }
      }
      if (found.length <= most || steps.length === 1) return thinned(found, most);
    }
    return [];
  };
  const thinned = (all, most) => {
    const each = Math.ceil(all.length / most);
    return all.filter((_, at) => at % each === 0);
  };
  // Those that lie far enough from the one before, a share of the axis' length apart.
  const apart = (all, { scale, from, to }, least) => {
    const on = scale === "log" ? Math.log : (v) => v;
    const place = (v) => (on(v) - on(from)) / (on(to) - on(from) || 1);
    let last = -Infinity;
    return all.filter((v) => place(v) - last >= least && ((last = place(v)), true));
  };
  // The width of a letter of an axis, at most, and the height of a line, in pixels.
  const [LETTER, LINE] = [6.6, 16];
  // A text in lines of at most so many letters, unless a word is longer.
  const folded = (text, most) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines.at(-1);
      if (last && last.length + 1 + word.length > most) lines.push(word);
      else lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
    return lines;
  };
  // Every name of categories that have so much room each: in lines or, where a word does not fit,
  // slanted in two of them. None is omitted or clipped.
  const named = (labels, room) => {
    const most = Math.floor(room / LETTER);
    const level = labels.map((label) => folded(label, most));
    const longest = (all) => Math.max(0, ...all.flat().map((line) => line.length));
    const height = (all) => Math.max(1, ...all.map((lines) => lines.length)) * LINE;
    if (longest(level) <= most) return { lines: level, size: height(level) + 12, rotate: 0 };
    const half = Math.max(8, ...labels.map((label) => Math.ceil(label.length / 2) + 2));
    const slanted = labels.map((label) => folded(label, half));
    const angle = (SLANT * Math.PI) / 180;
    const size = longest(slanted) * LETTER * Math.sin(angle) + height(slanted) + 12;
    return { lines: slanted, size, rotate: SLANT };
  };
  const SLANT = 50;
  const tailSplits = (to, most) => {
    const found = [];
    for (let at = 10; at <= to * 1.0001; at *= 10) found.push(at);
    const each = most / Math.log10(to);
    // The median lies close to the begin: there is room for both, for it alone, or for none.
    if (each * Math.log10(2) > 0.9) found.unshift(1, 2);
    else found.unshift(each * Math.log10(5) > 0.8 ? 2 : 1);
    return thinned(found, most + 2);
  };

  const filled = (...corners) => (ctx, x, y, size) => {
    ctx.beginPath();
    for (const [dx, dy] of corners) ctx.lineTo(x + dx * size, y + dy * size);
    ctx.fill();
  };
  const MARKERS = [
    (ctx, x, y, size) => {
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
    },
    filled([-1, -1], [1, -1], [1, 1], [-1, 1]),
    filled([0, -1.3], [1.3, 1.1], [-1.3, 1.1]),
    filled([0, -1.5], [1.3, 0], [0, 1.5], [-1.3, 0]),
  ];

  // Room for the longest of an axis's numbers.
  const wide = (texts) => Math.max(60, 16 + 6.8 * Math.max(0, ...(texts ?? []).map((text) => text.length)));

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.plot = figure.querySelector(".plot");
      this.at = figure.querySelector(".at");
      this.told = figure.querySelector(".told");
      this.entries = [...figure.querySelectorAll("[data-series]")];
      this.shown = this.data.series.map(() => true);
      // The point that keys went to: several may share a pixel, which a pointer can't tell apart.
      this.chosen = null;
      this.entries.forEach((entry, i) => {
        if (entry.tagName === "BUTTON") entry.addEventListener("click", () => this.toggle(i));
      });
      this.plot.addEventListener("keydown", (event) => this.key(event));
      this.plot.addEventListener("blur", () => this.leave());
      this.plot.addEventListener("mousemove", () => (this.chosen = null), true);
      new ResizeObserver(() => this.fit()).observe(this.plot);
    }

    // Makes it anew; for print twice as large, where a style makes it small and sharp again.
    make() {
      const k = root.classList.contains("printing") ? 2 : 1;
      this.drawn?.destroy();
      this.drawn = undefined;
      this.k = k;
      this.width = this.plot.clientWidth;
      if (this.width < 40) return;
      const { x, y, xs, series } = this.data;
      const least = y.scale === "log" ? y.from : -Infinity;
      const clamped = series.map((s) => s.ys.map((v) => (v === null ? null : Math.max(v, least))));
      const options = {
        width: this.width * k,
        height: (HEIGHT + this.extra(x)) * k,
        legend: { show: false },
        padding: [8 * k, 20 * k, 0, 0],
        cursor: {
          y: false,
          dataIdx: (_, __, closest) => this.chosen ?? closest,
          drag: { x: false, y: false, setScale: false },
          points: { size: 8 * k, width: 2 * k },
        },
        scales: { x: this.scale(x), y: this.scale(y) },
        axes: [this.axis(x, "x"), this.axis(y, "y")],
        series: [{}, ...series.map((s, i) => this.series(s, i))],
        hooks: {
          drawClear: [(u) => this.bands(u, false)],
          drawAxes: [(u) => this.bands(u, true)],
          drawSeries: [(u, i) => this.markers(u, i)],
          setCursor: [(u) => this.tell(this.chosen ?? u.cursor.idx)],
        },
      };
      this.drawn = new uPlot(options, [xs, ...clamped], this.plot);
      root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
    }

    // Follows its place: a new width, or a fold that was opened.
    fit() {
      if (root.classList.contains("printing")) return;
      const width = this.plot.clientWidth;
      if (!this.drawn) return void this.make();
      if (width >= 40 && width !== this.width) {
        this.width = width;
        // How many lines an axis has room for depends on its length.
        this.make();
      }
    }

    // The names of categories that have markers without a line; undefined for numbers and lines.
    names(of) {
      const { labels, series } = this.data;
      if (of.unit !== "label" || !series.every(({ mark }) => POINTS.includes(mark))) return undefined;
      return named(labels, (this.width - 90) / labels.length);
    }

    // How much higher the chart is for the lines of its categories' names.
    extra(x) {
      return Math.max(0, (this.names(x)?.size ?? 0) - 28);
    }

    scale({ scale, from, to }) {
      return { time: false, distr: scale === "log" ? 3 : 1, range: () => [from, to] };
    }

    axis(of, side) {
      const k = this.k;
      const write = (v) => WRITE[of.unit](v, this.data);
      const most = side === "x" ? Math.max(2, Math.floor((this.width - 70) / 50)) : 7;
      const line = { stroke: colour("--grid"), width: 1 * k };
      const axis = {
        stroke: colour("--muted"),
        font: `${12 * k}px ${FONT}`,
        grid: line,
        ticks: { ...line, size: 4 * k },
        border: { show: true, stroke: colour("--rule"), width: 1 * k },
        gap: 4 * k,
        space: (side === "x" ? 56 : 32) * k,
        size: side === "x" ? 28 * k : (_, values) => wide(values) * k,
        values: (_, splits) => splits.map((v) => (v === null ? "" : write(v))),
      };
      const longest = Math.max(0, ...(this.data.labels ?? []).map((label) => label.length));
      const room = (7 * longest + 16) / Math.max(1, this.width - 80);
      const names = this.names(of);
      if (names) {
        axis.splits = () => this.data.xs;
        axis.values = () => names.lines.map((lines) => lines.join("\n"));
        axis.size = names.size * k;
        axis.rotate = names.rotate;
        axis.lineGap = LINE / 12;
      } else if (of.unit === "label") axis.splits = () => apart(this.data.xs, of, room);
      else if (of.unit === "tail") axis.splits = () => tailSplits(of.to, most);
      else if (of.scale === "log") axis.splits = () => logSplits(of.from, of.to, most);
      else if (of.unit === "count") axis.incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5];
      if (axis.splits) axis.filter = (_, splits) => splits;
      if (side === "x" && of.label) {
        axis.label = of.label;
        axis.labelFont = `${12 * k}px ${FONT}`;
        axis.labelSize = 18 * k;
        axis.labelGap = 0;
      }
      return axis;
    }

    series({ name, side, mark }, i) {
      const k = this.k;
      const faint = mark.startsWith("faint") || mark === "hollowpoints";
      const stroke = this.ink(side);
      return {
        label: name,
        show: this.shown[i],
        stroke: faint ? stroke + "99" : stroke,
        width: (faint ? 1.25 : 2) * k,
        dash: DASHES[side % DASHES.length].map((v) => v * k),
        spanGaps: mark.endsWith("points"),
        points: { show: false },
        fill: mark === "steps" ? stroke + "22" : undefined,
        paths: POINTS.includes(mark) ? () => null : mark === "steps" ? uPlot.paths.stepped({ align: 1 }) : undefined,
      };
    }

    ink(side) {
      return colour(`--s${side % DASHES.length}`);
    }

    // Each side has a marker of its own: colour alone tells nothing.
    markers(u, i) {
      if (i === 0 || !this.shown[i - 1]) return;
      const { mark, side, lows, highs, missing } = this.data.series[i - 1];
      const [xs, ys] = [u.data[0], u.data[i]];
      const few = ys.reduce((n, y) => n + (y !== null), 0) <= MOST_MARKERS;
      const alone = POINTS.includes(mark);
      const marked = alone || (mark.endsWith("points") && few);
      if (!marked && !missing) return;
      const ratio = uPlot.pxRatio * this.k;
      const hollow = mark.startsWith("hollow");
      const size = (alone || hollow ? 4 : 2.6) * ratio;
      const aside = alone ? this.aside(i - 1) * ratio : 0;
      // Words of several series stand below one another.
      const row = this.data.series.slice(0, i - 1).filter((other) => other.missing).length;
      const word = { row, cross: -Infinity, end: -Infinity };
      const last = this.data.bands.some(({ role }) => role === "partial") ? ys.length - 1 : -1;
      const { ctx } = u;
      ctx.save();
      ctx.fillStyle = ctx.strokeStyle = this.ink(side);
      // The dashes of the series' line are no part of its markers and intervals.
      ctx.setLineDash([]);
      ctx.globalAlpha = mark.startsWith("faint") ? 0.6 : 1;
      ys.forEach((y, at) => {
        const left = u.valToPos(xs[at], "x", true) + aside;
        // A range that was published has ends and no point between them.
        if (lows?.[at] != null && highs?.[at] != null) {
          ctx.lineWidth = 1.5 * ratio;
          ctx.beginPath();
          ctx.moveTo(left, u.valToPos(lows[at], "y", true));
          ctx.lineTo(left, u.valToPos(highs[at], "y", true));
          ctx.stroke();
        }
        if (y === null) return this.absent(u, left, missing?.[at], word, ratio);
        if (!marked) return;
        const top = u.valToPos(y, "y", true);
        MARKERS[side % MARKERS.length](ctx, left, top, size);
        if (hollow || at === last) {
          ctx.fillStyle = colour("--paper");
          MARKERS[side % MARKERS.length](ctx, left, top, size * 0.55);
          ctx.fillStyle = this.ink(side);
        }
      });
      ctx.restore();
    }

    // Dots of categories, and those of several sides, stand beside one another, so that none hides
    // another.
    aside(at) {
      const { labels, series } = this.data;
      if (labels) return (at - (series.length - 1) / 2) * 9;
      const sides = [...new Set(series.map(({ side }) => side))];
      return (sides.indexOf(series[at].side) - (sides.length - 1) / 2) * 8;
    }

    // A cross and words at the top, where something was sent and nothing measured. Where many are
    // close together, only some are drawn.
    absent({ ctx, bbox }, left, text, word, ratio) {
      if (!text || left - word.cross < 10 * ratio) return;
      word.cross = left;
      const [top, arm] = [bbox.top + (10 + 37 * word.row) * ratio, 4 * ratio];
      ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      for (const way of [-1, 1]) {
        ctx.moveTo(left - arm, top - way * arm);
        ctx.lineTo(left + arm, top + way * arm);
      }
      ctx.stroke();
      ctx.font = `${11 * ratio}px ${FONT}`;
      const lines = text.split(" ");
      const half = Math.max(...lines.map((line) => ctx.measureText(line).width)) / 2;
      // A word at an edge stays within the picture.
      const [first, last] = [bbox.left + half, bbox.left + bbox.width + 18 * ratio - half];
      const at = Math.max(first, Math.min(left, last));
      if (at - half < word.end + 4 * ratio) return;
      word.end = at + half;
      ctx.textAlign = "center";
      ctx.textBaseline = "top";
      lines.forEach((line, n) => ctx.fillText(line, at, top + (8 + 13 * n) * ratio));
    }

    // Areas lie beneath the grid, lines above it.
    bands(u, lines) {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const band of this.data.bands) {
        if (lines) this.edges(u, band);
        else this.area(u, band);
      }
      if (lines && this.data.y.unit === "change") {
        ctx.setLineDash([]);
        ctx.lineWidth = uPlot.pxRatio * this.k;
        ctx.strokeStyle = colour("--ink");
        this.across(ctx, bbox, u.valToPos(0, "y", true));
      }
      ctx.restore();
    }

    area(u, { role, from, to }) {
      const { ctx, bbox } = u;
      ctx.fillStyle = colour(`--${role}`);
      if (UPRIGHT.includes(role)) {
        const [left, right] = [from, to].map((v) => u.valToPos(v, "x", true));
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
      } else if (role !== "floor" && role !== "bound") {
        const [bottom, top] = [from, to].map((v) => u.valToPos(v, "y", true));
        ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
      }
    }

    edges(u, { role, from, to, at }) {
      if (UPRIGHT.includes(role)) return;
      const { ctx, bbox } = u;
      const ratio = uPlot.pxRatio * this.k;
      ctx.lineWidth = ratio;
      ctx.setLineDash({ floor: [3, 3], bound: [8, 4] }[role]?.map((v) => v * ratio) ?? []);
      ctx.strokeStyle = colour(`--${role}-line`);
      for (const edge of [from, to]) this.across(ctx, bbox, u.valToPos(edge, "y", true));
      if (at === null) return;
      ctx.lineWidth = 2 * ratio;
      this.across(ctx, bbox, u.valToPos(at, "y", true));
    }

    across(ctx, bbox, y) {
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }

    // What is under the cursor, in the key.
    tell(at) {
      const { x, y, xs, series } = this.data;
      const some = at !== null && at !== undefined;
      this.at.textContent = some ? WRITE[x.unit](xs[at], this.data) : "";
      this.entries.forEach((entry, i) => {
        const value = some && this.shown[i] ? series[i].ys[at] : null;
        const absent = (some && this.shown[i] && series[i].missing?.[at]) || "";
        entry.querySelector("output").textContent = value === null ? absent : WRITE[y.unit](value, this.data);
      });
    }

    toggle(i) {
      this.shown[i] = !this.shown[i];
      this.entries[i].setAttribute("aria-pressed", String(this.shown[i]));
      this.drawn?.setSeries(i + 1, { show: this.shown[i] });
    }

    key(event) {
      if (!this.drawn || event.altKey || event.ctrlKey || event.metaKey) return;
      const last = this.data.xs.length - 1;
      const now = this.chosen ?? this.drawn.cursor.idx;
      const leap = Math.max(2, Math.round(last / 10));
      const move = {
        ArrowRight: (i) => i + 1,
        ArrowLeft: (i) => i - 1,
        PageDown: (i) => i + leap,
        PageUp: (i) => i - leap,
        Home: () => 0,
        End: () => last,
      }[event.key];
      if (event.key === "Escape") return this.leave();
      if (!move) return;
      event.preventDefault();
      const begin = event.key === "ArrowLeft" || event.key === "PageUp" ? last + 1 : -1;
      const to = Math.min(last, Math.max(0, move(now ?? begin)));
      this.chosen = to;
      this.drawn.setCursor({ left: this.drawn.valToPos(this.data.xs[to], "x"), top: 1 });
      this.tell(to);
      const value = ({ ys, missing }) => (ys[to] === null ? missing?.[to] : WRITE[this.data.y.unit](ys[to], this.data));
      const said = this.data.series.map((of, i) => (this.shown[i] && value(of) ? `${of.name} ${value(of)}` : ""));
      this.told.textContent = [WRITE[this.data.x.unit](this.data.xs[to], this.data), ...said.filter(Boolean)].join(", ");
    }

    leave() {
      this.chosen = null;
      this.drawn?.setCursor({ left: -10, top: -10 });
      this.told.textContent = "";
    }
  }

  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure));
  const make = () => charts.forEach((chart) => chart.make());
  make();

  // Light, dark, or as the system has it.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => make());
  const button = document.getElementById("theme");
  const THEMES = ["automatic", "light", "dark"];
  const keep = (theme) => {
    // Where storage is forbidden, the choice lasts as long as the page.
    try {
      localStorage.setItem("sixmark-theme", theme);
    } catch {}
  };
  const kept = () => {
    try {
      return localStorage.getItem("sixmark-theme");
    } catch {
      return null;
    }
  };
  const choose = (theme) => {
    if (theme === "automatic") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.querySelector("span").textContent = theme;
    make();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? "automatic") + 1) % THEMES.length];
    keep(theme);
    choose(theme);
  });
  if (THEMES.includes(kept()) && kept() !== "automatic") choose(kept());

  // On paper: light, everything opened, and charts as wide as the paper.
  let before;
  addEventListener("beforeprint", () => {
    const folds = [...document.querySelectorAll("details:not([open]):not(.licence)")];
    before = { theme: root.dataset.theme, folds };
    folds.forEach((fold) => (fold.open = true));
    root.dataset.theme = "light";
    root.classList.add("printing");
    make();
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    root.classList.remove("printing");
    before.folds.forEach((fold) => (fold.open = false));
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before = undefined;
    make();
  });
})();
