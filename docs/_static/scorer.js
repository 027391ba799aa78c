// Which page comes first: one whose title has all the words; then guides, before the notebooks that
// derive, and these before the record of what was run. The glossary comes after what it explains.
const asked = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/[\s-]+/);
const GUIDE = /^(tutorials\/|install$|cite$|questions$|when_not$|reports$)/;

var Scorer = {
  score: ([page, title, anchor, descr, score]) => {
    const words = title.toLowerCase();
    if (!anchor && asked.every((word) => words.includes(word))) score += 40;
    if (page === "glossary") return Math.min(score, 8);
    if (GUIDE.test(page)) return score + (anchor ? 6 : 12);
    return /^(reference|experiments)\//.test(page) ? score : score - 4;
  },
  objNameMatch: 16,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
