// The explorer: opening the trials behind a cell, ticking rows, lighting a line or a row, saving the figure.
(() => {
  const ROW_MARK = "row mark"; // the name of a figure's shape
  const form = () => document.getElementById("choice");

  function change() {
    form().dispatchEvent(new Event("change", { bubbles: true }));
  }

  // a row that the summary leaves out
  document.addEventListener("change", (event) => {
    const box = event.target.closest("[data-count]");
    if (!box) return;
    const level = box.dataset.count;
    [...form().querySelectorAll('[name="without"]')]
      .filter((field) => field.value === level)
      .forEach((field) => field.remove());
    if (!box.checked) {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name: "without", value: level });
      form().append(field);
    }
    change();
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
    document
      .querySelectorAll(".key [data-light-series]")
      .forEach((item, number) => item.classList.toggle("dim", index >= 0 && number !== index));
    table.classList.toggle("lit", dimmed);
    table.querySelectorAll(".on").forEach((cell) => cell.classList.remove("on"));
    if (index >= 0) table.querySelectorAll(`[data-s="${index}"]`).forEach((cell) => cell.classList.add("on"));
    if (x !== null) table.querySelectorAll(`tr[data-x="${x}"]`).forEach((row) => row.classList.add("on"));
    document.querySelectorAll("[data-figure][data-drawn]").forEach((box) => lightFigure(box, index, x));
  }

  // the lines of other series step back; a dashed line stands at the row
  function lightFigure(box, index, x) {
    const opacity = box.data.map(({ meta }) => (index >= 0 && meta && meta.series !== index ? 0.16 : 1));
    const shapes = (box.layout.shapes ?? []).filter(({ name }) => name !== ROW_MARK);
    const at = x === null ? undefined : box.layout.meta?.at[x];
    if (at !== undefined) {
      const line = { color: getComputedStyle(box).color, width: 1, dash: "3px,3px" };
      const along = box.layout.meta.rows
        ? { xref: "paper", x0: 0, x1: 1, y0: at, y1: at }
        : { yref: "paper", y0: 0, y1: 1, x0: at, x1: at };
      shapes.push({ name: ROW_MARK, type: "line", ...along, opacity: 0.45, line });
    }
    Plotly.update(box, { opacity }, { shapes });
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
    [...document.querySelectorAll("[data-count]")].find((box) => box.dataset.count === text)?.closest("tr").dataset.x ??
    null;

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
    document
      .querySelectorAll(".key [data-light-series]")
      .forEach((other) => other.setAttribute("aria-pressed", other.dataset.lightSeries === pinned));
    last = "";
    follow(event);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id !== "comparison") return;
    pinned = null;
    last = "";
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
  document.addEventListener(
    "change",
    (event) => {
      if (event.target.closest("[data-find]")) event.stopImmediatePropagation();
    },
    true,
  );
})();
