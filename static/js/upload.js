// Reads chosen files into a textarea: <input type="file" data-upload-into="ID OF THE TEXTAREA">. One file becomes its
// text; several are joined in the order of the numbers in their names, each under a line "-- file: name". What is said
// of it stands in the data attributes of the .upload around it.
(() => {
  const HEADING = /^--[ \t]*(script|query|file):/m;
  const LONGEST = 1_000_000;
  const filled = (text, place, value) => text.replace(`{${place}}`, () => value);

  function chosen(files) {
    const all = [...files].filter((file) => !file.name.startsWith("."));
    const sql = all.filter((file) => file.name.toLowerCase().endsWith(".sql"));
    const path = (file) => file.webkitRelativePath || file.name;
    return (sql.length ? sql : all).sort((a, b) => path(a).localeCompare(path(b), "en", { numeric: true }));
  }

  function label(file, taken) {
    const stem = file.name
      .replace(/\.[^.]*$/, "")
      .replace(/[^A-Za-z0-9_.-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "");
    const base = (stem || "query").slice(0, 50);
    let name = base;
    for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
    taken.add(name);
    return name;
  }

  async function joined(files, words) {
    if (!files.length) throw new Error(words.noFiles);
    if (files.reduce((sum, file) => sum + file.size, 0) > LONGEST) throw new Error(words.tooLarge);
    const taken = new Set();
    const parts = [];
    for (const file of files) {
      const text = (await file.text())
        .replace(/^\uFEFF/, "")
        .replace(/\r\n/g, "\n")
        .replace(/\n*$/, "\n");
      if (/[\0\uFFFD]/.test(text)) throw new Error(filled(words.noText, "name", file.name));
      parts.push(files.length > 1 && !HEADING.test(text) ? `-- file: ${label(file, taken)}\n${text}` : text);
    }
    return parts.join("");
  }

  document.addEventListener("change", async (event) => {
    const input = event.target.closest("[data-upload-into]");
    if (!input) return;
    const area = document.getElementById(input.dataset.uploadInto);
    const box = input.closest(".upload");
    const output = box.querySelector("output");
    const words = box.dataset;
    const files = chosen(input.files);
    try {
      area.value = await joined(files, words);
      output.textContent =
        files.length > 1 ? filled(words.joined, "count", files.length) : filled(words.inserted, "name", files[0].name);
      area.dispatchEvent(new Event("change", { bubbles: true }));
    } catch (error) {
      output.textContent = error.message;
    }
    input.value = "";
  });
})();
