// Moves each problem of the plan to its field, where it is said once; the list keeps a link there, and a page that was
// sent back begins at the first. The problems are in <script id="problems">; a field's box is
// [data-problem-for="parameters.clients"], a row of factors or settings is found by what is typed in its first input.
// The list names a field by its label, or by the box's [data-problem-name].
(() => {
  const CONTROLS = "input:not([type=hidden]), select, textarea";

  function boxOf(problem, boxes) {
    const exact = boxes.get(problem.field);
    if (exact) return exact;
    const family = problem.field.split(/[.[]/)[0];
    return boxes.get(family);
  }

  function emptyBoxes() {
    const boxes = new Map();
    document.querySelectorAll("[data-problem-for]").forEach((box, index) => {
      const typed = box.closest("li")?.querySelector("input");
      const field = box.dataset.problemFor.replace("*", typed ? typed.value.trim() : "");
      if (!boxes.has(field)) boxes.set(field, box);
      box.textContent = "";
      box.id = `problem-${index}`;
    });
    document.querySelectorAll("[aria-invalid]").forEach((control) => {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-describedby");
    });
    return boxes;
  }

  function controlOf(box) {
    return (box.closest("li, .field") ?? box.closest("section"))?.querySelector(CONTROLS);
  }

  function nameOf(problem, box, control) {
    if (box.dataset.problemName && problem.field === box.dataset.problemFor) return box.dataset.problemName;
    if (box.closest("li")) return control.value.trim() || problem.field;
    const label = control.labels?.[0]?.firstChild?.textContent.trim();
    return box.closest(".field") && label ? label : problem.field;
  }

  function place(problem, box, item) {
    box.textContent = [box.textContent, problem.what, problem.todo].filter(Boolean).join(" ");
    const control = controlOf(box);
    if (!control) return null;
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", box.id);
    const link = document.createElement("a");
    link.href = `#${box.id}`;
    link.textContent = nameOf(problem, box, control);
    link.translate = link.textContent !== problem.field && !box.closest("li"); // else a key, or what was typed
    link.addEventListener("click", (event) => {
      event.preventDefault();
      control.focus();
    });
    item?.replaceChildren(link);
    return control;
  }

  function show() {
    const source = document.getElementById("problems");
    if (!source) return null;
    const boxes = emptyBoxes();
    const wrong = JSON.parse(source.textContent).map((problem, index) => {
      const box = boxOf(problem, boxes);
      return box && place(problem, box, document.querySelector(`[data-problem="${index}"]`));
    });
    const before = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
    return wrong.filter(Boolean).sort((a, b) => (before(a, b) ? -1 : 1))[0];
  }

  document.addEventListener("htmx:afterSettle", show);
  document.addEventListener("DOMContentLoaded", () => show()?.focus());
})();
