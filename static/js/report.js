// The editor of a report: <button data-insert="TEXT"> puts a block where the cursor is, and selects what to change.
(() => {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-insert]");
    if (!button) return;
    const area = document.getElementById("source");
    const text = `\n${button.dataset.insert}\n`;
    const start = area.selectionStart;
    area.setRangeText(text, start, area.selectionEnd, "end");
    const number = text.search(/\d/);
    if (number >= 0) area.setSelectionRange(start + number, start + number + 1);
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // what was typed and not saved is not lost by leaving the page unasked
  let saved;
  const form = () => document.getElementById("writing");
  const written = () => new URLSearchParams(new FormData(form())).toString();
  document.addEventListener("DOMContentLoaded", () => {
    saved = "unsaved" in form().dataset ? "" : written(); // after an error the page holds what is saved nowhere
    form().addEventListener("submit", () => {
      saved = undefined;
    });
  });
  window.addEventListener("beforeunload", (event) => {
    if (saved !== undefined && written() !== saved) event.preventDefault();
  });
})();
