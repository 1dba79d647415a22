// The menu of all pages closes by Escape, and when something else is clicked or focused.
(() => {
  const open = () => document.querySelector("details.menu[open]");

  function close(event) {
    const menu = open();
    if (menu && !menu.contains(event.target)) menu.open = false;
  }

  document.addEventListener("click", close);
  document.addEventListener("focusin", close);
  document.addEventListener("keydown", (event) => {
    const menu = open();
    if (event.key !== "Escape" || !menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
