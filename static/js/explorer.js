// The explorer: opening the trials behind a cell, ticking rows, lighting a line or a row, saving the figure.
(() => {
  const form = () => document.getElementById("choice");

  function change() {
    form().dispatchEvent(new Event("change", { bubbles: true }));
  }

  // a row that the summary leaves out
  document.addEventListener("change", (event) => {
    const box = event.target.closest("[data-count]");
    if (!box) return;
    const level = box.dataset.count;
    [...form().querySelectorAll('[name="without"]')].filter((field) => field.value === level).forEach((field) => field.remove());
    if (!box.checked) {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name: "without", value: level });
      form().append(field);
    }
    change();
  });

  // a value that would leave nothing cannot be ticked, only unticked
  document.addEventListener("click", (event) => {
    const box = event.target.closest('input[aria-disabled="true"]');
    if (box && box.checked) event.preventDefault();
  });

  // the trials behind a cell, below its row
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-cell]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const row = link.closest("tr");
    const open = link.getAttribute("aria-expanded") === "true";
    row.querySelectorAll("[data-cell][aria-expanded]").forEach((other) => other.removeAttribute("aria-expanded"));
    if (row.nextElementSibling?.matches(".details")) row.nextElementSibling.remove();
    if (open) return;
    link.setAttribute("aria-expanded", "true");
    const details = row.parentElement.insertRow(row.sectionRowIndex + 1);
    details.className = "details";
    const box = details.insertCell();
    box.colSpan = row.cells.length;
    box.textContent = "…";
    htmx.ajax("GET", link.href, { target: box, swap: "innerHTML" });
  });

  // what is named lights up, the rest steps back
  let pinned = null;

  function light(series, x) {
    const table = document.querySelector("table.compare");
    if (!table) return;
    const names = [...document.querySelectorAll(".key [data-light-series]")].map((item) => item.dataset.lightSeries);
    const index = series === null ? -1 : names.indexOf(series);
    const dimmed = index >= 0 || x !== null;
    document.querySelectorAll(".key [data-light-series]").forEach((item, place) =>
      item.classList.toggle("dim", index >= 0 && place !== index));
    table.classList.toggle("lit", dimmed);
    table.querySelectorAll(".on").forEach((cell) => cell.classList.remove("on"));
    if (index >= 0) table.querySelectorAll(`[data-s="${index}"]`).forEach((cell) => cell.classList.add("on"));
    if (x !== null) table.querySelectorAll(`tr[data-x="${x}"]`).forEach((row) => row.classList.add("on"));
    document.querySelectorAll("[data-figure][data-drawn]").forEach((box) => { lightLines(box, index); markRow(box, x); });
  }

  function lightLines(box, index) {
    const traces = [...box.querySelectorAll(".scatterlayer .trace")];
    const drawn = box.calcdata.map((points) => points[0].trace);
    traces.forEach((trace, place) => {
      const meta = drawn[place] && drawn[place].meta;
      trace.classList.toggle("dim", index >= 0 && !!meta && meta.series !== index);
    });
  }

  function markRow(box, x) {
    const old = box.querySelector(".row-mark");
    if (old) old.remove();
    const at = box.layout.meta && x !== null ? box.layout.meta.at[x] : undefined;
    if (at === undefined) return;
    const { xaxis, yaxis } = box._fullLayout;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const left = xaxis._offset + xaxis.d2p(at);
    for (const [name, value] of Object.entries({ x1: left, x2: left, y1: yaxis._offset, y2: yaxis._offset + yaxis._length }))
      line.setAttribute(name, value);
    line.setAttribute("class", "row-mark");
    box.querySelector(".main-svg").append(line);
  }

  function named(target) {
    const item = target.closest?.("[data-light-series], [data-light-x], td[data-s], th[data-s], tr[data-x]");
    if (!item) return [null, null];
    if (item.dataset.lightSeries !== undefined) return [item.dataset.lightSeries, null];
    if (item.dataset.lightX !== undefined) return [null, rowOf(item.dataset.lightX)];
    if (item.matches("th[data-s]")) return [seriesAt(item.dataset.s), null];
    return [null, item.closest("tr").dataset.x ?? null];
  }

  const seriesAt = (index) => document.querySelectorAll(".key [data-light-series]")[index]?.dataset.lightSeries ?? null;
  const rowOf = (text) =>
    [...document.querySelectorAll("[data-count]")].find((box) => box.dataset.count === text)?.closest("tr").dataset.x ?? null;

  let last = "";
  function follow(event) {
    if (!document.getElementById("comparison")) return;
    const [series, x] = named(event.target);
    const next = JSON.stringify([series ?? pinned, x]);
    if (next === last) return;
    last = next;
    light(series ?? pinned, x);
  }
  document.addEventListener("mouseover", follow);
  document.addEventListener("focusin", follow);
  document.addEventListener("click", (event) => {
    const item = event.target.closest(".key [data-light-series]");
    if (!item) return;
    pinned = pinned === item.dataset.lightSeries ? null : item.dataset.lightSeries;
    document.querySelectorAll(".key [data-light-series]").forEach((other) =>
      other.setAttribute("aria-pressed", other.dataset.lightSeries === pinned));
    last = "";
    follow(event);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id !== "comparison") return;
    pinned = null;
    last = "";
  });

  // every panel as a file
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-save-figure]")) return;
    document.querySelectorAll("[data-figure][data-drawn]").forEach((box) => {
      const data = box.data.map((trace) => (trace.marker ? { ...trace, marker: { ...trace.marker, maxdisplayed: 0 } } : trace));
      Plotly.downloadImage({ data, layout: box.layout }, { format: "svg", width: 960, height: 480, filename: box.id });
    });
  });

  // runs by name
  document.addEventListener("input", (event) => {
    const finder = event.target.closest("[data-find]");
    if (!finder) return;
    const wanted = finder.value.trim().toLowerCase();
    document.querySelectorAll(`#${finder.dataset.find} tbody tr`).forEach((row) => {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  });
  document.addEventListener("change", (event) => {
    if (event.target.closest("[data-find]")) event.stopImmediatePropagation();
  }, true);
})();
