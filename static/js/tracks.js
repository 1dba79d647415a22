// One second in all tracks of a trial, and one range: pointing at a track, or moving the slider, shows the same
// second in every other, with its values; a drag in one track zooms all, and the address names the range.
(() => {
  const FEWEST_PX = 6; // of a drag
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const figure = () => document.querySelector('[data-figure="timeline"]');
  const tracks = () => [...document.querySelectorAll("svg.track[data-points]")];
  const slider = () => document.querySelector("[data-second]");
  const choice = () => document.querySelector("[data-time-choice]");
  const whole = () => figure().layout.meta?.duration_s || Number(slider().max);

  function shown() {
    return figure().layout.xaxis.range.map(Number);
  }

  // the value of the sample next to a second, undefined where there is none
  function valueAt(xs, ys, second) {
    let best;
    xs.forEach((x, index) => {
      if (best === undefined || Math.abs(x - second) < Math.abs(xs[best] - second)) best = index;
    });
    return best === undefined || ys[best] === null ? undefined : ys[best];
  }

  function words(value, unit) {
    return `${number.format(value)}${unit && unit !== "1" ? ` ${unit}` : ""}`;
  }

  function lineWords(trace, second) {
    const value = valueAt(trace.x, trace.text || trace.y, second);
    if (value === undefined || value === "") return "";
    if (typeof value !== "number") return `${trace.name} ${value}`;
    return `${trace.name} ${words(value, trace.meta === trace.name ? "" : trace.meta)}`;
  }

  function read(second) {
    const values = figure()
      .data.filter((trace) => trace.type === "scatter")
      .map((trace) => lineWords(trace, second));
    const { at, between } = document.querySelector("[data-second-values]").dataset;
    return at.replace("{second}", second.toFixed(1)).replace("{values}", values.filter(Boolean).join(between));
  }

  function markTrack(svg, second) {
    const { trackWidth, trackEnd, at } = svg.closest("[data-track-end]").dataset;
    const x = (Number(trackWidth) * second) / Number(trackEnd);
    let line = svg.querySelector(".at");
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("class", "at");
      svg.append(line);
    }
    line.setAttribute("d", `M${x} 0V${svg.viewBox.baseVal.height}`);
    const [xs, ys] = JSON.parse(svg.dataset.points);
    const value = valueAt(xs, ys, second);
    const output = svg.previousElementSibling.querySelector(".at-second");
    const text = at.replace("{second}", second.toFixed(1));
    output.textContent = value === undefined ? "" : text.replace("{value}", words(value, svg.dataset.unit));
  }

  function show(second, { hover }) {
    tracks().forEach((svg) => markTrack(svg, second));
    slider().value = second;
    document.querySelector("[data-second-values]").textContent = read(second);
    if (hover) Plotly.Fx.hover(figure(), { xval: second, yval: 0 }, "xy");
  }

  function clear() {
    tracks().forEach((svg) => {
      svg.querySelector(".at")?.remove();
      svg.previousElementSibling.querySelector(".at-second").textContent = "";
    });
  }

  function zoomTracks([start, end]) {
    tracks().forEach((svg) => {
      const { trackWidth, trackEnd } = svg.closest("[data-track-end]").dataset;
      const scale = Number(trackWidth) / Number(trackEnd);
      const wholeShown = start <= 0 && end >= whole();
      const [from, width] = wholeShown ? [0, Number(trackWidth)] : [start * scale, (end - start) * scale];
      svg.setAttribute("viewBox", `${from} 0 ${width} ${svg.viewBox.baseVal.height}`);
    });
    // the tracks' own axis is of the whole window
    document.querySelectorAll(".arrangement .axis text").forEach((text) => {
      text.dataset.usual ||= JSON.stringify([text.getAttribute("x"), text.textContent]);
      const [place, name] = JSON.parse(text.dataset.usual);
      const isWhole = start <= 0 && end >= whole();
      text.textContent = isWhole ? name : `${number.format(start + (parseFloat(place) / 100) * (end - start))} s`;
    });
  }

  function rounded(second) {
    return String(Number(second.toFixed(2)));
  }

  function nameRange([start, end]) {
    const address = new URL(location.href);
    const isWhole = start <= 0 && end >= whole();
    const range = isWhole ? ["", ""] : [rounded(Math.max(0, start)), rounded(Math.min(end, whole()))];
    ["from", "to"].forEach((name, index) => {
      choice().elements[name].value = range[index];
      if (range[index]) address.searchParams.set(name, range[index]);
      else address.searchParams.delete(name);
    });
    history.replaceState(history.state, "", address);
    choice().querySelector("[data-whole]").hidden = isWhole;
  }

  const zoom = (start, end) => Plotly.relayout(figure(), { "xaxis.range": [start, end] });

  function secondOf(svg, event) {
    const box = svg.getBoundingClientRect();
    const { trackWidth, trackEnd } = svg.closest("[data-track-end]").dataset;
    const view = svg.viewBox.baseVal;
    const x = view.x + (view.width * (event.clientX - box.left)) / box.width;
    return Math.max(0, (x * Number(trackEnd)) / Number(trackWidth));
  }

  function follow(svg) {
    let from;
    svg.addEventListener("pointermove", (event) => show(secondOf(svg, event), { hover: true }));
    svg.addEventListener("pointerleave", () => {
      clear();
      Plotly.Fx.unhover(figure());
    });
    svg.addEventListener("pointerdown", (event) => {
      from = [event.clientX, secondOf(svg, event)];
    });
    svg.addEventListener("pointerup", (event) => {
      if (!from || Math.abs(event.clientX - from[0]) < FEWEST_PX) return;
      const ends = [from[1], secondOf(svg, event)].sort((a, b) => a - b);
      from = undefined;
      zoom(...ends);
    });
    svg.addEventListener("dblclick", () => zoom(0, whole()));
  }

  document.addEventListener("figuredraw", ({ target, detail }) => {
    if (target !== figure() || !choice()) return;
    zoomTracks(shown());
    if (!detail.first) return;
    target.on("plotly_hover", (event) => show(Number(event.xvals?.[0] ?? event.points[0].x), { hover: false }));
    target.on("plotly_unhover", clear);
    target.on("plotly_doubleclick", () => zoom(0, whole()));
    target.on("plotly_relayout", () => {
      zoomTracks(shown());
      nameRange(shown());
    });
    tracks().forEach(follow);
  });
  document.addEventListener("input", (event) => {
    if (event.target === slider()) show(Number(event.target.value), { hover: true });
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-whole]")) zoom(0, whole());
  });
})();
