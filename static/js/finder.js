// A list of choices that is searched by typing: <input data-finds="metric"> before <select id="metric">, whose options
// say in data-words by what they are found. Arrows choose among what fits, Enter takes it, Escape leaves all as it was.
(() => {
  const lists = new WeakMap(); // select → its whole content, while it is searched
  const selectOf = (input) => document.getElementById(input.dataset.finds);

  function unhide() {
    document.querySelectorAll("[data-finds][hidden]").forEach((input) => {
      input.hidden = false;
    });
  }

  function fits(option, words) {
    const text = option.dataset.words ?? option.textContent.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  function restore(select) {
    const whole = lists.get(select);
    if (!whole) return;
    select.replaceChildren(...whole.content);
    select.value = whole.value;
    select.removeAttribute("size");
    lists.delete(select);
  }

  function search(input) {
    const select = selectOf(input);
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const value = lists.get(select)?.value ?? select.value;
    restore(select);
    if (!words.length) return;
    lists.set(select, { content: [...select.children], value });
    const found = [...select.options].filter((option) => fits(option, words)).map((option) => option.cloneNode(true));
    select.replaceChildren(...found);
    select.size = Math.max(2, Math.min(8, found.length));
    select.selectedIndex = found.length ? 0 : -1;
  }

  function take(input) {
    const select = selectOf(input);
    const chosen = select.selectedIndex >= 0 ? select.value : null;
    restore(select);
    input.value = "";
    if (chosen === null) return;
    select.value = chosen;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function move(input, step) {
    const select = selectOf(input);
    const last = select.options.length - 1;
    select.selectedIndex = Math.max(0, Math.min(last, select.selectedIndex + step));
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-finds]")) search(event.target);
  });
  document.addEventListener("keydown", (event) => {
    const input = event.target.closest?.("[data-finds]");
    if (!input) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) move(input, steps[event.key]);
    else if (event.key === "Enter") take(input);
    else if (event.key === "Escape") {
      restore(selectOf(input));
      input.value = "";
    } else return;
    event.preventDefault();
  });
  // a choice made in the shortened list by the mouse; what is typed is no change of the form
  document.addEventListener(
    "change",
    (event) => {
      if (event.target.matches("[data-finds]")) event.stopImmediatePropagation();
      else if (lists.has(event.target)) {
        const chosen = event.target.value;
        restore(event.target);
        event.target.value = chosen;
        const input = document.querySelector(`[data-finds="${event.target.id}"]`);
        if (input) input.value = "";
      }
    },
    true,
  );
  document.addEventListener("DOMContentLoaded", unhide);
  document.addEventListener("htmx:afterSettle", unhide);
})();
