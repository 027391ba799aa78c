// Guides come before the notebooks that derive, these before the record of what was run.
var Scorer = {
  score: ([page, title, anchor, descr, score]) => {
    const guide = /^(tutorials\/|install|cite|questions|glossary|when_not|reports)/;
    if (guide.test(page)) return score + (anchor ? 6 : 12);
    if (/^reference\/kpw_nb\.kpw_/.test(page)) return score + 4;
    if (/^(reference|experiments)\//.test(page)) return score;
    return score - 4;
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
