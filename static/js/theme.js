// Light or dark: the visitor's choice, else the system's. Runs before the first paint.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => document.dispatchEvent(new Event("themechange"));
  const chosen = () => localStorage.getItem("theme");
  const apply = () => {
    if (chosen()) root.dataset.theme = chosen();
    else delete root.dataset.theme;
  };
  const dark = () => (chosen() || (system.matches ? "dark" : "light")) === "dark";

  apply();
  system.addEventListener("change", changed);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    localStorage.setItem("theme", dark() ? "light" : "dark");
    apply();
    changed();
  });
})();
