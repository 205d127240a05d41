// Small helps for readers; without them every part of the page can still be read.
(() => {
  "use strict";
  // How many records a filter leaves, a search by name, and the way back to all of them.
  const lists = new Map();
  for (const box of document.querySelectorAll(".records-box")) {
    const find = (what) => box.querySelector(`.filter ${what}`);
    const [search, all, told] = [find("input[type=search]"), find("button"), find("output")];
    const rows = [...box.querySelectorAll(".records > li")];
    const total = rows.length.toLocaleString("en");
    for (const one of [search, all, told]) one.hidden = false;
    const tell = () => {
      const shown = rows.filter((row) => row.offsetParent !== null).length;
      all.disabled = shown === rows.length;
      told.textContent = `${shown.toLocaleString("en")} of ${total} shown`;
    };
    const look = () => {
      const wanted = search.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
      tell();
    };
    const reset = () => {
      for (const one of box.querySelectorAll(".filter input")) one.checked = one.value === "all";
      for (const one of box.querySelectorAll(".filter select")) one.selectedIndex = 0;
      search.value = "";
      look();
    };
    search.addEventListener("input", look);
    box.querySelector(".filter").addEventListener("change", tell);
    all.addEventListener("click", () => { reset(); find("input").focus(); });
    lists.set(box, reset);
    tell();
  }
  // A link opens what its place is folded into, and shows it where a filter hid it.
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const place = id && document.getElementById(id);
    if (!place) return;
    const row = place.closest(".records > li");
    if (row && row.offsetParent === null) lists.get(row.closest(".records-box"))?.();
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const high = place.getBoundingClientRect().height > innerHeight;
    place.scrollIntoView({ block: high ? "start" : "center" });
    (place.querySelector(":scope > summary") || place).focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link) return;
    if (link.getAttribute("href") === location.hash) open();
    if (!link.classList.contains("here")) return;
    // The address of one record, to be mailed; where it may not be copied, it stands above.
    const copied = navigator.clipboard?.writeText(link.href);
    copied?.then(() => { link.textContent = "link to this record, copied"; }, () => {});
  });
  open();
  // Again when all is there: the browser then goes to the place by itself, and drops the focus.
  addEventListener("load", () => setTimeout(open));
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
