// Copies a text of the page: <button data-copy="ID">. What is HTML is offered as a table too, for editors that
// take one.
(() => {
  const byHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy"); // the only way on a page that came over plain http
    area.remove();
    return copied ? Promise.resolve() : Promise.reject(new Error("The browser refused to copy."));
  };
  const written = (source) => {
    const text = source.textContent;
    if (!navigator.clipboard) return byHand(text);
    if (source.dataset.type !== "html") return navigator.clipboard.writeText(text);
    const parts = ["text/html", "text/plain"].map((type) => [type, new Blob([text], { type })]);
    return navigator.clipboard.write([new ClipboardItem(Object.fromEntries(parts))]);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    const status = button.parentElement.querySelector("[data-copied]");
    written(source).then(
      () => {
        status.textContent = status.dataset.copied.replace("{format}", button.textContent.trim());
        button.focus();
      },
      () => {
        status.textContent = status.dataset.refused;
        source.hidden = false;
        source.tabIndex = 0;
        source.focus();
      },
    );
  });
})();
