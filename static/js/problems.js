// Puts each problem of the preview beside its field. The problems are in <script id="problems">; a field's box is
// [data-problem-for="parameters.clients"], a row of factors or settings is found by what is typed in its first input.
(() => {
  function boxOf(problem, boxes) {
    const exact = boxes.get(problem.field);
    if (exact) return exact;
    const family = problem.field.split(/[.[]/)[0];
    return boxes.get(family);
  }

  function show() {
    const source = document.getElementById("problems");
    if (!source) return;
    const boxes = new Map();
    document.querySelectorAll("[data-problem-for]").forEach((box) => {
      const typed = box.closest("li")?.querySelector("input");
      const field = box.dataset.problemFor.replace("*", typed ? typed.value.trim() : "");
      if (!boxes.has(field)) boxes.set(field, box);
      box.textContent = "";
    });
    for (const problem of JSON.parse(source.textContent)) {
      const box = boxOf(problem, boxes);
      if (box) box.textContent = [box.textContent, problem.what, problem.todo].filter(Boolean).join(" ");
    }
  }

  document.addEventListener("htmx:afterSettle", show);
  document.addEventListener("DOMContentLoaded", show);
})();
