// Unpacks plotly.js, which the page carries compressed, and draws the figures.
(async () => {
  "use strict";
  const held = (id) => document.getElementById(id).textContent;
  try {
    const packed = Uint8Array.from(atob(held("plotly-packed")), (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    // The page's policy names the digest of this text: no other script could be put here.
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    for (const [id, data, layout, config] of JSON.parse(held("figures"))) {
      Plotly.newPlot(id, data, layout, config);
    }
  } catch (error) {
    const said = "This browser cannot draw the figure; the tables hold the same numbers.";
    for (const place of document.querySelectorAll("figure.plot > div:empty")) place.textContent = said;
    throw error;
  }
})();
