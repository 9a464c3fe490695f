/* What a static copy of a site does without the service: search, and the theme that the reader chose. The ranking is
   that of the service: words are compared without case and accents, each may be the start of a word, and a match in a
   title counts most, then one in a heading, then those in the text (BM25). */
"use strict";

(() => {
  const home = new URL("../", document.currentScript.src);
  const root = document.documentElement;

  /* The theme. */
  const THEME = "presscheck-theme";
  let theme = null;
  try {
    theme = localStorage.getItem(THEME);
  } catch {} // the reader forbids storage
  if (["auto", "light", "dark"].includes(theme)) root.dataset.theme = theme;
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("#Site-themes a");
    if (!link) return;
    try {
      localStorage.setItem(THEME, new URL(link.href).searchParams.get("theme"));
    } catch {}
  });

  /* Words. */
  const PREFIX = 0.5;
  const JOINED = 0.9;
  const CORRECTED = 0.6;
  const MOST_TERMS = 16;
  const MOST_PAGES = 50;
  const MOST_PASSAGES = 3;
  const OPTIONAL = new Set(
    ("a an and are as at be by can do does for from how i in is it its me my of on or that the there this to was we" +
      " what when where which who why will with you your").split(" "),
  );
  const UNSPACED = "[\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}]";
  const IS_UNSPACED = new RegExp(`${UNSPACED}$`, "u");
  const RUNS = new RegExp(`${UNSPACED}+`, "gu");

  const fold = (text) =>
    text.normalize("NFKD").replace(/\p{Mn}/gu, "").normalize("NFC").toLowerCase().replaceAll("ß", "ss");
  const plain = (text) =>
    fold(text)
      .replace(RUNS, (run) => ` ${[...run].join(" ")} `)
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  const normalized = (text) => ` ${plain(text)} `.replace(/^ +$/, " ");

  const phrasesOf = (query) => {
    const phrases = new Map();
    for (const [, quoted, loose] of query.matchAll(/"([^"]*)"?|([^"]+)/g)) {
      const parts = quoted ? [quoted] : (loose ?? "").replace(/[^\p{L}\p{N}_\s]+/gu, " ").split(/\s+/);
      for (const words of parts.map(plain)) {
        if (words) phrases.set(words, !quoted && !IS_UNSPACED.test(words));
      }
    }
    return [...phrases].slice(0, MOST_TERMS);
  };

  const termsOf = (query) => {
    const phrases = phrasesOf(query);
    const areOptional = phrases.some(([words]) => !OPTIONAL.has(words));
    const joined = new Map();
    phrases.slice(1).forEach(([second, isPrefix], index) => {
      const [first, isOpen] = phrases[index];
      if (!isOpen || !isPrefix || (first + second).includes(" ")) return;
      for (const word of [first, second]) joined.set(word, [...(joined.get(word) ?? []), first + second]);
    });
    return phrases.map(([words, isPrefix]) => ({
      words,
      isRequired: !(areOptional && OPTIONAL.has(words)),
      needles: [
        [` ${words} `, 1],
        ...(joined.get(words) ?? []).map((word) => [` ${word} `, JOINED]),
        ...(isPrefix ? [[` ${words}`, PREFIX]] : []),
      ],
    }));
  };

  const weightIn = (term, text) => term.needles.find(([needle]) => text.includes(needle))?.[1] ?? 0;
  const frequencyIn = (term, text) => {
    for (const [needle, weight] of term.needles) {
      const count = text.split(needle).length - 1;
      if (count) return weight * count;
    }
    return 0;
  };
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  /* The index. */
  let loading = null;
  const load = () =>
    (loading ??= (async () => {
      const read = async (name) => (await fetch(new URL(`~search/${name}`, home))).json();
      const { pages, texts } = await read("pages.json");
      const parts = await Promise.all(texts.map(read));
      const sections = new Map(parts.flat());
      const shown = new Set(pages.map(([, , , [section]]) => section)).size > 1 ? 0 : 1; // an only section needs no name
      return pages.map(([title, url, description, where, updated], number) => {
        const own = sections.get(number) ?? [];
        const body = normalized(own.map(([, , text]) => text).join("\n"));
        return {
          title,
          url: new URL(url, home).href,
          description,
          where: where.slice(shown).join(" › "),
          sections: own,
          moment: Date.parse(updated) || 0,
          fields: { title: normalized(title), description: normalized(description), above: normalized(where.slice(1).join(" ")) },
          headings: own.filter(([name]) => name).map(([name]) => normalized(name)),
          body,
          words: body.split(" ").length - 1,
        };
      });
    })().catch((error) => {
      loading = null;
      throw error;
    }));

  /* The ranking. */
  const titleScore = (terms, rarities, title) => {
    const weights = terms.map((term) => weightIn(term, title));
    const matched = weights.filter(Boolean).length;
    if (!matched) return 0;
    const covered = sum(terms.map((term, index) => (weights[index] ? term.words.split(" ").length : 0)));
    const coverage = covered / (title.split(" ").length - 2);
    const isPhrase = matched === terms.length && title.includes(` ${terms.map((term) => term.words).join(" ")}`);
    const total = sum(weights.map((weight, index) => rarities[index] * weight));
    return total * (0.4 + 0.6 * Math.min(1, coverage)) * (isPhrase ? 1.3 : 1);
  };

  const score = (terms, rarities, page) => {
    const norm = 1.2 * (1 - 0.4 + (0.4 * page.words) / 700);
    let total = 6 * titleScore(terms, rarities, page.fields.title);
    terms.forEach((term, index) => {
      const frequency = frequencyIn(term, page.body);
      total += (rarities[index] * frequency * 2.2) / (frequency + norm);
      total += rarities[index] * 1.5 * weightIn(term, page.fields.description);
      total += rarities[index] * 0.7 * weightIn(term, page.fields.above);
    });
    total += 3 * Math.max(0, ...page.headings.map((heading) => titleScore(terms, rarities, heading)));
    const phrase = ` ${terms.map((term) => term.words).join(" ")}`;
    if (terms.length > 1 && page.body.includes(phrase)) total += sum(rarities);
    return total;
  };

  const hasTerm = (page, term) =>
    [page.fields.title, page.fields.description, page.body, ...page.headings].some((text) => weightIn(term, text));

  const ranked = (pages, terms, least) => {
    const matches = pages.map((page) => terms.map((term) => hasTerm(page, term)));
    const rarities = terms.map((_, index) => {
      const count = matches.filter((row) => row[index]).length;
      return Math.log(1 + (pages.length - count + 0.5) / (count + 0.5));
    });
    const weights = terms.map((term, index) => (term.isRequired ? rarities[index] : 0));
    const share = (row) => sum(row.map((isMatch, index) => (isMatch ? weights[index] : 0))) / sum(weights);
    const newest = Math.max(...pages.map((page) => page.moment));
    return pages
      .map((page, number) => {
        const row = matches[number];
        const required = row.filter((isMatch, index) => isMatch && terms[index].isRequired).length;
        const inTitle = terms.map((term) => weightIn(term, page.fields.title) > 0);
        if (required < least && !(share(inTitle) >= 0.6)) return null;
        const recency = 1 + 0.05 * Math.max(0, 1 - (newest - page.moment) / (365 * 24 * 3600 * 1000));
        return { page, value: score(terms, rarities, page) * share(row) * recency };
      })
      .filter(Boolean)
      .sort((one, other) => other.value - one.value)
      .map((hit) => hit.page);
  };

  /* Whether two words differ by one missing, added or replaced letter, or by two swapped letters. */
  const isOneOff = (word, other) => {
    if (Math.abs(word.length - other.length) > 1 || word === other) return false;
    let start = 0;
    while (start < word.length && word[start] === other[start]) start += 1;
    const [rest, otherRest] = [word.slice(start), other.slice(start)];
    return (
      rest.slice(1) === otherRest ||
      rest === otherRest.slice(1) ||
      rest.slice(1) === otherRest.slice(1) ||
      (rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2))
    );
  };

  const corrected = (pages, terms) =>
    terms.map((term) => {
      const isPossible = !term.words.includes(" ") && term.words.length >= 4 && term.words.length <= 64;
      if (!isPossible || pages.some((page) => hasTerm(page, term))) return term;
      const words = new Set(pages.flatMap((page) => [...page.body.split(" "), ...page.fields.title.split(" ")]));
      const similar = [...words].filter((word) => isOneOff(term.words, word)).sort();
      return similar.length ? { ...term, needles: similar.map((word) => [` ${word} `, CORRECTED]) } : term;
    });

  const find = async (query) => {
    const pages = await load();
    let terms = termsOf(query);
    if (!terms.length || !pages.length) return { pages: [], terms, isExact: true };
    let least = terms.filter((term) => term.isRequired).length;
    let hits = ranked(pages, terms, least);
    if (hits.length) return { pages: hits, terms, isExact: true };
    terms = corrected(pages, terms);
    for (const lowest = Math.floor((least - 1) / 2) + 1; !hits.length && least >= lowest; least -= 1) {
      hits = ranked(pages, terms, least);
    }
    return { pages: hits, terms, isExact: false };
  };

  /* Excerpts, and marks of what matches. */
  const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const patternOf = (terms) => {
    const needles = terms.flatMap((term) => term.needles.map(([needle]) => needle)).sort((a, b) => b.length - a.length);
    const parts = needles.map((needle) => {
      const words = needle.trim().split(" ").map(escaped);
      if (IS_UNSPACED.test(needle.trim())) return words.join("[^\\p{L}\\p{N}]*");
      const ending = needle.endsWith(" ") ? "(?![\\p{L}\\p{N}])" : "[\\p{L}\\p{N}]*";
      return `(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}${ending}`;
    });
    return new RegExp(parts.join("|"), "gu");
  };

  const matchesIn = (text, terms) => {
    const pieces = [...text].map((letter) => [letter, fold(letter)]);
    const offsets = pieces.flatMap(([letter, folded], index) => Array(folded.length).fill([index, letter]));
    const folded = pieces.map(([, piece]) => piece).join("");
    const starts = [];
    let at = 0;
    for (const [letter] of pieces) {
      starts.push(at);
      at += letter.length;
    }
    return [...folded.matchAll(patternOf(terms))]
      .filter((match) => match[0])
      .slice(0, 200)
      .map((match) => {
        const [last, letter] = offsets[match.index + match[0].length - 1];
        return [starts[offsets[match.index][0]], starts[last] + letter.length, match[0]];
      });
  };

  const excerpt = (text, terms) => {
    const flat = text.split(/\s+/).join(" ").trim();
    let [at, most] = [0, 0];
    const matches = matchesIn(flat, terms);
    matches.forEach(([start], number) => {
      const near = matches.slice(number, number + 50).filter(([begin]) => begin < start + 140);
      const different = new Set(near.map(([, , word]) => word)).size;
      if (different > most) [at, most] = [start, different];
    });
    let start = Math.max(0, at + 140 < flat.length ? at - 40 : Math.min(at - 40, flat.length - 180));
    if (start) start = flat.slice(0, at).indexOf(" ", start) + 1 || start;
    let end = start + 180;
    if (end < flat.length && flat.lastIndexOf(" ", end) > at + 20) end = flat.lastIndexOf(" ", end);
    return (start ? "…" : "") + flat.slice(start, end).trim() + (end < flat.length ? "…" : "");
  };

  const marked = (text, terms) => {
    const parts = [];
    let at = 0;
    for (const [start, end] of matchesIn(text, terms)) {
      if (start < at) continue;
      parts.push(text.slice(at, start), Object.assign(document.createElement("mark"), { textContent: text.slice(start, end) }));
      at = end;
    }
    return [...parts, text.slice(at)];
  };

  const passagesOf = (page, terms) =>
    page.sections
      .map(([title, anchor, text]) => {
        const [name, body] = [normalized(title), normalized(text)];
        const weights = terms.map(
          (term) => (2 * weightIn(term, name) + weightIn(term, body)) * (term.isRequired ? 1 : 0.1),
        );
        return { title, text, value: sum(weights), url: page.url + (anchor ? `#${encodeURIComponent(anchor)}` : "") };
      })
      .filter((passage) => passage.value)
      .sort((one, other) => other.value - one.value)
      .slice(0, MOST_PASSAGES);

  /* Results while the reader types; the script of the site shows them. */
  const summary = (count, query) => {
    const { none, one, many } = document.querySelector(".search").dataset;
    if (!count) return `${none} “${query}”.`;
    return count === 1 ? one.replace("{0}", () => query) : many.replace("{0}", count).replace("{1}", () => query);
  };
  self.findPages = async (query) => {
    const { pages } = await find(query);
    const links = pages.slice(0, 8).map((page) => ({ href: page.url, title: page.title, where: page.where }));
    return { links, message: summary(pages.length, query) };
  };

  /* The page of results. */
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  document.addEventListener("DOMContentLoaded", async () => {
    for (const link of theme ? document.querySelectorAll("#Site-themes a") : []) {
      link.toggleAttribute("aria-current", new URL(link.href).searchParams.get("theme") === theme);
    }
    const article = document.querySelector("article.results");
    const query = new URLSearchParams(location.search).get("q")?.trim().slice(0, 512);
    if (!article || !query) return;
    for (const field of document.querySelectorAll('input[name="q"]')) field.value = query;
    document.title = `${query} | ${document.title.split(" | ").slice(1).join(" | ")}`;
    const { pages, terms, isExact } = await find(query);
    const heading = article.querySelector("h1");
    const items = pages.slice(0, MOST_PAGES).map((page) => {
      const passages = passagesOf(page, terms).map((passage) => {
        const link = passage.title ? [element("a", { href: passage.url }, ...marked(passage.title, terms)), " "] : [];
        return element("p", {}, ...link, ...marked(excerpt(passage.text, terms), terms));
      });
      if (!passages.length && page.description) passages.push(element("p", {}, ...marked(page.description, terms)));
      const title = element("h2", {}, element("a", { href: page.url }, ...marked(page.title, terms)));
      const where = page.where ? [element("p", { className: "where" }, page.where)] : [];
      return element("li", {}, ...where, title, ...passages);
    });
    article.replaceChildren(
      heading,
      element("p", { className: "description", role: "status" }, summary(pages.length, query)),
      ...(isExact || !pages.length ? [] : [element("p", {}, article.dataset.similar)]),
      element("ol", {}, ...items),
    );
  });
})();
