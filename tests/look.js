// What a visitor would stumble over on the page that is open: code that wraps, things wider than
// their box that do not scroll, headings that skip a level, text too faint to read. A list of words.
(() => {
  const wrong = [];
  const article = document.querySelector("article") || document.body;
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className} "${e.textContent.trim().slice(0, 40)}"`;
  article.querySelectorAll("details").forEach((d) => (d.open = true));
  // All elements but those that match the selector or lie in one that does; formulas have thousands
  const outside = function* (selector) {
    const seen = (e) => (e.matches(selector) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const walk = document.createTreeWalker(article, NodeFilter.SHOW_ELEMENT, seen);
    while (walk.nextNode()) yield walk.currentNode;
  };

  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const edge = article.getBoundingClientRect().right + 2;
  for (const e of outside("mjx-container, svg, .sd-stretched-link")) {
    if (!e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    if (e.tagName === "PRE" && style.whiteSpace !== "pre") wrong.push(`wrapped: ${name(e)}`);
    const wide = e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 2;
    if (!wide || scrolls(e)) continue;
    if (["hidden", "clip"].includes(style.overflowX)) wrong.push(`cut: ${name(e)}`);
    let holder = e.parentElement;
    while (holder !== article && holder && !scrolls(holder)) holder = holder.parentElement;
    const right = e.getBoundingClientRect().left + e.scrollWidth;
    if ((holder === article || !holder) && right > edge) wrong.push(`sticks out: ${name(e)}`);
  }

  let last = 0;
  for (const h of article.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = Number(h.tagName[1]);
    if (level > last + 1) wrong.push(`heading of level ${level} after ${last}: ${name(h)}`);
    last = level;
  }

  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.5) return c;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  // .sk-top-container: scikit-learn's own picture of an estimator
  const exempt = "mjx-container, svg, [aria-hidden=true], .headerlink, button, select, input, .sk-top-container";
  for (const e of outside(exempt)) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(numbers(style.color)), light(ground(e))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.add(`faint (${ratio.toFixed(1)}): ${name(e)} ${style.color}`);
  }
  return [...wrong.slice(0, 6), ...[...faint].slice(0, 4)];
})();
