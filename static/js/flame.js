// Finds functions in a flame chart: <input data-flame="FIGURE"> and <output data-flame-found="FIGURE"> of the same
// figure. What matches (in any case, a part of the name) is marked, with the share of samples in it or below it.
(() => {
  const plain = new WeakMap(); // a chart's data → the colours it was drawn in

  function matching(trace, wanted) {
    const indexes = new Map(trace.ids.map((id, index) => [id, index]));
    const within = []; // whether a box matches, or lies below one that does
    const marked = [];
    let samples = 0;
    trace.ids.forEach((_, index) => {
      // callers come before what they call
      const above = within[indexes.get(trace.parents[index])] || false;
      const matches = index > 0 && trace.labels[index].toLowerCase().includes(wanted);
      if (matches) marked.push(index);
      if (matches && !above) samples += trace.values[index];
      within[index] = above || matches;
    });
    return { marked: new Set(marked), share: samples / trace.values[0] };
  }

  function search(input) {
    const box = document.querySelector(`[data-figure="${input.dataset.flame}"]`);
    const output = document.querySelector(`[data-flame-found="${input.dataset.flame}"]`);
    if (!box?.data) return;
    const trace = box.data[0];
    if (!plain.has(trace.ids)) plain.set(trace.ids, trace.marker.colors);
    const colours = plain.get(trace.ids);
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) {
      output.textContent = "";
      Plotly.restyle(box, { "marker.colors": [colours] });
      return;
    }
    const { marked, share } = matching(trace, wanted);
    // names stay readable on it
    const mark = getComputedStyle(output).color.replace(/^rgba?\((.*)\)$/, "rgba($1, 0.5)");
    Plotly.restyle(box, {
      "marker.colors": [colours.map((colour, index) => (marked.has(index) ? mark : faded(colour)))],
    });
    const { none, one, several } = output.dataset;
    const text = marked.size === 1 ? one : marked.size ? several : none;
    output.textContent = text.replace("{share}", (100 * share).toFixed(1)).replace("{count}", marked.size);
  }

  const faded = (colour) => colour.replace(/,([\d.]+)\)$/, (_, alpha) => `,${(alpha * 0.35).toFixed(3)})`);
  const again = () => document.querySelectorAll("[data-flame]").forEach((input) => input.value && search(input));

  document.addEventListener("input", (event) => event.target.matches("[data-flame]") && search(event.target));
  document.addEventListener("themechange", again);
})();
