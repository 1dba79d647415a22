// Draws every <div data-figure="ID"> from the JSON in <script id="ID">, in the theme's colours.
// A figure names colours as the style sheet does: "var(--s1)", or "var(--s1) 20%" for a transparent one.
(() => {
  const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: "reset" };
  const COLOUR = /^var\(--[\w-]+\)(?: (\d+)%)?$/;
  const probe = document.createElement("i");
  const drawn = new WeakMap();

  function colour(text) {
    const share = text.match(COLOUR)[1];
    const name = text.replace(/ \d+%$/, "");
    probe.style.color = share ? `color-mix(in srgb, ${name} ${share}%, transparent)` : name;
    const canvas = colour.canvas ||= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = getComputedStyle(probe).color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return `rgba(${red},${green},${blue},${(alpha / 255).toFixed(3)})`;
  }

  function themed(value, known) {
    if (typeof value === "string") {
      if (!COLOUR.test(value)) return value;
      if (!known.has(value)) known.set(value, colour(value));
      return known.get(value);
    }
    if (Array.isArray(value)) return typeof value.at(-1) === "number" ? value : value.map((item) => themed(item, known));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item, known)]));
    return value;
  }

  function draw(box, again) {
    const source = document.getElementById(box.dataset.figure);
    if (!source || (!again && drawn.get(box) === source.textContent)) return;
    drawn.set(box, source.textContent);
    const figure = themed(JSON.parse(source.textContent), new Map());
    figure.layout.font.family = getComputedStyle(document.body).fontFamily;
    if (box.clientWidth < 520) narrow(figure.layout);
    if (figure.layout.height) box.style.minHeight = `${figure.layout.height}px`;
    const first = !box.classList.contains("js-plotly-plot");
    Plotly.react(box, figure.data, figure.layout, CONFIG).then(() => {
      box.dataset.drawn = figure.data.length;
      if (first) box.on("plotly_click", follow);
    });
  }

  function narrow(layout) {
    layout.margin = { ...layout.margin, l: Math.min(layout.margin.l, 46), r: 6 };
    layout.font.size = 11;
    layout.annotations = layout.annotations?.filter((note) => note.xref !== "x");
    for (const [name, axis] of Object.entries(layout)) if (name.startsWith("yaxis")) delete axis.title;
  }

  function follow(event) {
    const target = event.points[0] && event.points[0].customdata;
    if (typeof target === "string" && target.startsWith("/")) location.assign(target);
  }

  function drawAll(again) {
    document.querySelectorAll("[data-figure]").forEach((box) => draw(box, again));
  }

  document.addEventListener("DOMContentLoaded", () => {
    probe.hidden = true;
    document.body.append(probe);
    drawAll(true);
  });
  document.addEventListener("themechange", () => drawAll(true));
  document.addEventListener("htmx:afterSettle", () => drawAll(false));
})();
