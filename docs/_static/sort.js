// A click on a head of a table of class "sortable" sorts its rows by that column, a second
// click the other way round. Numbers by value, all else as words; empty cells come last.
const value = (row, column) => row.cells[column].textContent.trim();

function compare(a, b) {
  if (!a || !b) return !a - !b;
  const [x, y] = [parseFloat(a), parseFloat(b)];
  return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
}

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      heads.forEach((other) => (other.ariaSort = "none"));
      head.ariaSort = up ? "ascending" : "descending";
      const sign = up ? 1 : -1;
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return (x && y ? sign : 1) * compare(x, y);
      });
      body.append(...rows);
    });
  });
}

// On the search page: what is quoted of a page is its article, not the theme around it. This
// takes the place of Sphinx's own, so that each of many pages is parsed once only.
if (typeof Search !== "undefined") {
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article") || page.querySelector("[role=main]");
    for (const other of article.querySelectorAll(".headerlink, script, style")) other.remove();
    const place = anchor && article.querySelector(anchor); // of a synonym: quote its section
    const section = place && !place.textContent.trim() && place.closest("section");
    return (section || place || article).textContent;
  };
}

// Text with formulas is shown once they are set (site.css hides it), so that it does not jump.
if (document.querySelector("article .math")) {
  const wait = () => {
    const set = window.MathJax?.startup?.promise;
    if (!set) return setTimeout(wait, 30);
    set.then(() => document.documentElement.classList.add("typeset"));
  };
  wait();
}

// The page that is read is in view in the sidebar, however long that is.
const here = document.querySelector(".bd-links li.current.active > a");
const bar = here?.closest(".bd-sidebar-primary");
if (bar) {
  const above = here.getBoundingClientRect().top - bar.getBoundingClientRect().top;
  bar.scrollTop += above - bar.clientHeight / 2;
}
