// where the widgets' script finds its icons: beside itself, not below the page
require.config({ paths: { "@jupyter-widgets/html-manager/dist": document.currentScript.src.replace(/[^/]*$/, "") + "vendor" } });
// they would typeset with MathJax 2; the page has MathJax 3, and their sentences have no formulas
addEventListener("load", () => { if (window.MathJax && !MathJax.Hub) MathJax.Hub = { Queue() {} }; });
