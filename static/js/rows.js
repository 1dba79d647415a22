// Adds and removes rows of a list of fields: <ul data-rows="NAME">, <template data-row="NAME">, buttons that say so.
document.addEventListener("click", (event) => {
  const adder = event.target.closest("[data-add-row]");
  const remover = event.target.closest("[data-remove-row]");
  if (adder) {
    const name = adder.dataset.addRow;
    const list = document.querySelector(`[data-rows="${name}"]`);
    list.append(document.querySelector(`template[data-row="${name}"]`).content.cloneNode(true));
    list.lastElementChild.querySelector("input").focus();
  }
  if (remover) {
    const form = remover.closest("form");
    remover.closest("li").remove();
    form.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
