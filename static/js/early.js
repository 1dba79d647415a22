// What is chosen or typed while the page still loads is told again once htmx listens; else it would show in its field
// and nowhere else.
(() => {
  const KINDS = ["change", "input"];
  const early = new Map(KINDS.map((kind) => [kind, new Set()]));
  const note = (event) => early.get(event.type).add(event.target);

  function tell() {
    early.forEach((fields, kind) => {
      fields.forEach((field) => field.dispatchEvent(new Event(kind, { bubbles: true })));
    });
  }

  KINDS.forEach((kind) => document.addEventListener(kind, note));
  document.addEventListener("DOMContentLoaded", () => {
    KINDS.forEach((kind) => document.removeEventListener(kind, note));
    setTimeout(tell); // after the other listeners of this event, htmx's among them
  });
})();
