// Draws every <div data-figure="ID"> from the JSON in <script id="ID">, in the theme's colours.
// A figure names colours as the style sheet does: "var(--s1)", or "var(--s1) 20%" for a transparent one.
(() => {
  const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: "reset" };
  const TILT = 60; // degrees
  const LETTER_PX = 6.6;
  const LINE_PX = 17; // from one tilted name to the next
  const MOST_LETTERS = 28; // of a name that a margin is made for
  const COLOUR = /^var\(--[\w-]+\)(?: (\d+)%)?$/;
  const probe = document.createElement("i");
  const drawn = new WeakMap();
  let palette = new Map(); // of the theme
  let waiting = [];
  let traceTypes; // that this page's bundle of Plotly can draw

  function colour(text) {
    const share = text.match(COLOUR)[1];
    const name = text.replace(/ \d+%$/, "");
    probe.style.color = share ? `color-mix(in srgb, ${name} ${share}%, transparent)` : name;
    const canvas = (colour.canvas ||= document.createElement("canvas").getContext("2d", { willReadFrequently: true }));
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = getComputedStyle(probe).color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return `rgba(${red},${green},${blue},${(alpha / 255).toFixed(3)})`;
  }

  function themed(value) {
    if (typeof value === "string") {
      if (!COLOUR.test(value)) return value;
      if (!palette.has(value)) palette.set(value, colour(value));
      return palette.get(value);
    }
    if (Array.isArray(value)) return typeof value.at(-1) === "number" ? value : value.map(themed);
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item)]));
    return value;
  }

  // what is still to be drawn has its place, so that nothing moves when it comes
  function prepare(box, again) {
    const source = document.getElementById(box.dataset.figure);
    if (!source || (!again && drawn.get(box) === source.textContent)) return false;
    const { height } = JSON.parse(source.textContent).layout;
    if (height) box.style.minHeight = `${height}px`;
    return true;
  }

  function draw(box) {
    const source = document.getElementById(box.dataset.figure);
    if (!source) return;
    drawn.set(box, source.textContent);
    const figure = themed(JSON.parse(source.textContent));
    refuseUnknown(figure.data);
    figure.layout.font.family = getComputedStyle(document.body).fontFamily;
    if (box.clientWidth < 520) narrow(figure.layout);
    tilt(figure.layout, box.clientWidth);
    thin(figure.layout.xaxis, box.clientWidth - figure.layout.margin.l - figure.layout.margin.r);
    const first = !box.classList.contains("js-plotly-plot");
    Plotly.react(box, figure.data, figure.layout, CONFIG).then(() => {
      if (first) box.on("plotly_click", (event) => follow(event, box));
      box.dataset.drawn = figure.data.length;
      box.dispatchEvent(new CustomEvent("figuredraw", { bubbles: true, detail: { first } }));
    });
  }

  // of two bundles the small one draws what it does not know as something else (docs/architecture.md)
  function refuseUnknown(traces) {
    traceTypes ||= new Set(Object.keys(Plotly.PlotSchema.get().traces));
    const unknown = traces.find((trace) => !traceTypes.has(trace.type));
    if (unknown) throw new Error(`The Plotly of this page draws no ${unknown.type}.`);
  }

  function narrow(layout) {
    const { l } = layout.margin;
    // names of rows, or numbers without the title
    const left = layout.meta?.rows ? Math.round(0.88 * l) : Math.min(l, Math.max(46, l - 30));
    layout.margin = { ...layout.margin, l: left, r: layout.meta?.rows ? layout.margin.r : 6 };
    layout.font.size = 11;
    const { xaxis } = layout;
    if (xaxis && !xaxis.tickvals) layout.xaxis = { ...xaxis, nticks: 4, tickangle: 0 };
    for (const [name, axis] of Object.entries(layout)) if (name.startsWith("yaxis")) delete axis.title;
  }

  // Names that have no room beside each other are tilted, and left out where they would stand on each other, in margins
  // that hold them: for each margin that Plotly has to widen it draws the figure anew, every mark of it.
  function tilt({ xaxis, margin }, width) {
    if (!xaxis?.ticktext?.length || xaxis.tickangle !== undefined) return;
    const longest = LETTER_PX * Math.min(Math.max(...xaxis.ticktext.map((text) => text.length)), MOST_LETTERS);
    if (longest * xaxis.ticktext.length < width - margin.l - margin.r) return;
    xaxis.tickangle = -TILT;
    margin.l = Math.ceil(Math.max(margin.l, longest * Math.cos((TILT * Math.PI) / 180)));
    margin.b = Math.ceil(Math.max(margin.b, longest * Math.sin((TILT * Math.PI) / 180) + 40));
    const step = Math.ceil((xaxis.ticktext.length * LINE_PX) / (width - margin.l - margin.r));
    xaxis.tickvals = xaxis.tickvals.filter((_, index) => index % step === 0);
    xaxis.ticktext = xaxis.ticktext.filter((_, index) => index % step === 0);
  }

  // names of levels that are numbers, and would stand on each other, are left out
  function thin(axis, width) {
    if (!axis || axis.tickangle !== 0 || !axis.ticktext || axis.ticktext.length < 2) return;
    const at = axis.tickvals.map((value) => (axis.type === "log" ? Math.log10(value) : value));
    const px = width / ((at.at(-1) - at[0]) * 1.1 || 1);
    const kept = [];
    for (let i = at.length - 1; i >= 0; i--) {
      const next = kept.at(-1);
      const room = next === undefined ? Infinity : (at[next] - at[i]) * px;
      if (room > 10 + 3.6 * (axis.ticktext[i].length + (axis.ticktext[next] || "").length)) kept.push(i);
    }
    axis.tickvals = kept.map((i) => axis.tickvals[i]);
    axis.ticktext = kept.map((i) => axis.ticktext[i]);
  }

  function follow(event, box) {
    const point = event.points[0];
    const number = point && point.customdata;
    const target = typeof number === "number" ? box.layout.meta.link.replace("{}", number) : number;
    if (typeof target === "string" && target.startsWith("/")) location.assign(target);
  }

  // those in view at once, the others one by one while the page is at rest
  function drawAll(again) {
    const boxes = [...document.querySelectorAll("[data-figure]")].filter((box) => prepare(box, again));
    const near = new Set(boxes.filter((box) => box.getBoundingClientRect().top < innerHeight));
    near.forEach(draw);
    const idle = waiting.length === 0;
    waiting = boxes.filter((box) => !near.has(box));
    if (idle) later();
  }

  function later() {
    const box = waiting.shift();
    if (!box) return;
    (window.requestIdleCallback || setTimeout)(() => {
      if (box.isConnected) draw(box);
      later();
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    probe.hidden = true;
    document.body.append(probe);
    drawAll(true);
  });
  document.addEventListener("themechange", () => {
    palette = new Map();
    drawAll(true);
  });

  // names of levels that fitted another width
  let width = window.innerWidth;
  let resized;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(resized);
    resized = setTimeout(() => drawAll(true), 200);
  });
  document.addEventListener("htmx:afterSettle", () => drawAll(false));
})();
