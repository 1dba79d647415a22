// Puts each problem of the preview beside its field. The problems are in <script id="problems">; a field's place is
// [data-problem-for="parameters.clients"], a row of factors or settings is found by what is typed in its first input.
(() => {
  function place(problem, places) {
    const exact = places.get(problem.field);
    if (exact) return exact;
    const family = problem.field.split(/[.[]/)[0];
    return places.get(family);
  }

  function show() {
    const source = document.getElementById("problems");
    if (!source) return;
    const places = new Map();
    document.querySelectorAll("[data-problem-for]").forEach((spot) => {
      const typed = spot.closest("li")?.querySelector("input");
      const field = spot.dataset.problemFor.replace("*", typed ? typed.value.trim() : "");
      if (!places.has(field)) places.set(field, spot);
      spot.textContent = "";
    });
    for (const problem of JSON.parse(source.textContent)) {
      const spot = place(problem, places);
      if (spot) spot.textContent = [spot.textContent, problem.what, problem.todo].filter(Boolean).join(" ");
    }
  }

  document.addEventListener("htmx:afterSettle", show);
  document.addEventListener("DOMContentLoaded", show);
})();
