// Small helps for readers; without them every part of the page can still be read.
(() => {
  "use strict";
  // A link to a turn opens what it is folded into.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const place = id && document.getElementById(id);
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", open);
  addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) open();
  });
  open();
  // Looking for a record by its name.
  for (const box of document.querySelectorAll("input[data-search]")) {
    box.hidden = false;
    const rows = document.querySelectorAll(`#${CSS.escape(box.dataset.search)} > li`);
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
    });
  }
  // On paper nothing can be unfolded: the clauses and the methods are opened for it.
  const folded = document.querySelectorAll("details.clauses, details.methods");
  // Figures do not hear of the paper's width: they are drawn for it, and back again.
  const draw = (size) => {
    for (const plot of document.querySelectorAll(".js-plotly-plot")) Plotly.relayout(plot, size);
  };
  addEventListener("beforeprint", () => {
    folded.forEach((part) => { part.open = true; });
    draw({ width: 640, autosize: false });
  });
  addEventListener("afterprint", () => draw({ width: null, autosize: true }));
})();
