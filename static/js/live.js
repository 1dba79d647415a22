// Keeps a live fragment calm while htmx replaces it: boxes stay scrolled, details open or closed, new results show. A
// fragment that holds a mark of what it shows sends it along: only what has changed since comes back.
(() => {
  // a value that would leave nothing cannot be ticked, only unticked
  document.addEventListener("click", (event) => {
    const box = event.target.closest('input[aria-disabled="true"]');
    if (box && box.checked) event.preventDefault();
  });

  let kept = new Map();
  let opened = new Map();
  let states = new Map();
  const cells = (part) => (part.matches?.("[data-trial]") ? [part] : part.querySelectorAll("[data-trial]"));

  document.addEventListener("htmx:configRequest", (event) => {
    const mark = event.target.querySelector(":scope > #live-mark");
    if (mark) event.detail.headers["Teiten-Mark"] = mark.dataset.mark;
  });
  document.addEventListener("htmx:beforeSwap", () => {
    kept = new Map(
      [...document.querySelectorAll(".scroll[id]")].map((box) => [box.id, [box.scrollLeft, box.scrollTop]]),
    );
    opened = new Map([...document.querySelectorAll("details[id]")].map((box) => [box.id, box.open]));
    states = new Map([...cells(document)].map((cell) => [cell.dataset.trial, cell.dataset.state]));
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    kept.forEach(([left, top], id) => {
      const box = document.getElementById(id);
      if (box) [box.scrollLeft, box.scrollTop] = [left, top];
    });
    opened.forEach((open, id) => {
      const box = document.getElementById(id);
      if (box) box.open = open;
    });
  });
  // not earlier: until it has settled, htmx gives an element that has an id its attributes back
  document.addEventListener("htmx:afterSettle", (event) => {
    cells(event.target).forEach((cell) => {
      const before = states.get(cell.dataset.trial);
      if (before && before !== cell.dataset.state && cell.dataset.state === "done") cell.classList.add("new");
    });
  });
})();
