/* Conveniences of published sites. Everything works without this script; so a failure here loses nothing. */
"use strict";

const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const element = (name, properties) => Object.assign(document.createElement(name), properties);

/* Copy buttons of code, and anchors that copy their URL. Browsers have no clipboard for pages that come by plain http from
   another machine. */
function copy(text, button, done) {
  if (!navigator.clipboard) return false;
  navigator.clipboard.writeText(text).then(() => {
    const before = button.textContent;
    button.textContent = done;
    setTimeout(() => (button.textContent = before), 1500);
  });
  return true;
}

for (const code of navigator.clipboard ? all("figure.code") : []) {
  const button = element("button", { type: "button", className: "copy", textContent: root.dataset.copy });
  button.addEventListener("click", () => copy(code.querySelector("code").innerText, button, root.dataset.copied));
  code.append(button);
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a.anchor");
  if (anchor) copy(anchor.href, anchor, "✓");
});

/* Links of earlier versions: the ids of menus and schemas began with "~". */
if (location.hash.startsWith("#~")) location.replace(`#Site-${location.hash.slice(2)}`);

/* A link in the outline or in the drawer closes it. */
for (const panel of all(".outline, .side")) {
  panel.addEventListener("click", (event) => {
    if (event.target.closest("a") && panel.matches(":popover-open")) panel.hidePopover();
  });
}

/* Tabs with the same title open together, also on the next page. */
const TAB = "tab";
const stored = () => {
  try {
    return sessionStorage.getItem(TAB);
  } catch {
    return null; // a page with scripts of integrations has no storage
  }
};
const openTabs = (title) => {
  for (const tab of all(".tabs > details:not([open])")) {
    if (tab.firstElementChild.textContent === title) tab.open = true;
  }
};
for (const label of all(".tabs > details > summary")) {
  label.addEventListener("click", () => {
    const top = label.getBoundingClientRect().top;
    try {
      sessionStorage.setItem(TAB, label.textContent);
    } catch {}
    requestAnimationFrame(() => {
      openTabs(label.textContent);
      scrollBy(0, label.getBoundingClientRect().top - top); // tabs above may have become longer
    });
  });
}
if (stored() && !location.hash) openTabs(stored());

/* The theme changes without a new page; the request stores the choice. */
for (const link of all("#Site-themes a")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    try {
      await fetch(link.href, { redirect: "manual" });
    } catch {
      location = link.href;
      return;
    }
    root.dataset.theme = new URL(link.href).searchParams.get("theme");
    for (const other of all("#Site-themes a")) other.toggleAttribute("aria-current", other === link);
    link.closest("[popover]").hidePopover();
  });
}

/* Actions of a page that need a script. */
for (const button of all("[data-copies], [data-prints]")) {
  const url = button.dataset.copies;
  if (url && !navigator.clipboard) continue;
  button.parentElement.hidden = false;
  button.addEventListener("click", async () => {
    if (!url) {
      button.closest("[popover]").hidePopover();
      return print();
    }
    if ("isText" in button.dataset) return copy(url, button, button.dataset.done);
    const response = await fetch(url).catch(() => null);
    if (response?.ok) copy(await response.text(), button, button.dataset.done);
    else location = url;
  });
}

/* Feedback is sent without a new page. If that fails, the browser sends the form and shows the reason. */
const feedback = document.querySelector(".feedback");
const send = async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(feedback, event.submitter));
  const response = await fetch(location.href, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (response?.type === "opaqueredirect") {
    feedback.classList.add("sent");
    const thanks = feedback.querySelector(".thanks");
    thanks.tabIndex = -1;
    thanks.focus(); // the button that had the focus is hidden
  } else feedback.requestSubmit(event.submitter);
};
feedback?.addEventListener("submit", send, { once: true });

/* Pictures open in full size. */
const zooms = (image) => {
  image.classList.add("zooms");
  if (image.alt) {
    Object.assign(image, { role: "button", tabIndex: 0 }); // a picture without words is only decoration
    image.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      image.click();
    });
  }
  image.addEventListener("click", () => {
    const dialog = element("dialog", { className: "zoom", ariaLabel: image.alt });
    const large = image.cloneNode();
    for (const name of ["role", "tabindex"]) large.removeAttribute(name);
    dialog.append(large);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
};
for (const image of all("article img:not([data-size])")) {
  if (!image.closest("a")) zooms(image);
}

/* Diagrams become pictures: the policy of the page forbids the styles in them, but not in pictures. A diagram that cannot
   be drawn stays its source. */
const SVG = "http://www.w3.org/2000/svg";
const withoutStyles = async (draw) => {
  // the policy would ignore and report a style element in the page; a description has no effect there
  const { createElement } = document;
  document.createElement = (name, ...more) => {
    if (name !== "style") return createElement.call(document, name, ...more);
    const styles = document.createElementNS(SVG, "desc");
    styles.setAttribute("class", "styles");
    return styles;
  };
  try {
    return await draw();
  } finally {
    delete document.createElement; // the function of all documents again
  }
};
const drawn = async (id, text, theme, place) => {
  const themes = { light: "default", dark: "dark" };
  const fontFamily = "system-ui, sans-serif";
  self.mermaid.initialize({ startOnLoad: false, securityLevel: "strict", htmlLabels: false, flowchart: { htmlLabels: false }, suppressErrorRendering: true, theme: themes[theme], fontFamily });
  const { svg } = await withoutStyles(() => self.mermaid.render(id, text, place));
  const picture = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  const { width, height } = picture.viewBox.baseVal;
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.style.maxWidth = "";
  return picture;
};
const drawDiagrams = async () => {
  const place = element("div", { className: "drawing" });
  for (const [number, figure] of self.mermaid ? all("figure.diagram").entries() : []) {
    const alt = figure.querySelector("code").textContent;
    document.body.append(place);
    try {
      // the first drawing gives the styles, with which the others measure their texts
      const first = await drawn(`d${number}`, alt, "light", place);
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(first.querySelector(".styles").textContent);
      document.adoptedStyleSheets = [sheet];
      const pictures = [];
      for (const theme of ["light", "dark"]) {
        const source = new XMLSerializer().serializeToString(await drawn(`d${number}`, alt, theme, place));
        const styled = source.replace(/<desc class="styles">([^]*?)<\/desc>/, "<style>$1</style>");
        const src = `data:image/svg+xml,${encodeURIComponent(styled)}`;
        pictures.push(element("img", { src, alt, className: `if-${theme}` }));
      }
      await Promise.all(pictures.map((picture) => picture.decode()));
      pictures.forEach(zooms);
      figure.prepend(...pictures);
      figure.classList.add("drawn");
    } catch (error) {
      console.info(error); // such as a mistake in the source
    }
    document.adoptedStyleSheets = [];
    place.remove();
  }
};
addEventListener("DOMContentLoaded", drawDiagrams);

/* Players of other sites are loaded when the reader asks for it. A page with scripts of integrations shows none. */
for (const box of all(origin === "null" ? ".none" : "[data-player]")) {
  const { player } = box.dataset;
  const button = element("button", { type: "button", textContent: `Load from ${new URL(player).host}` });
  button.addEventListener("click", () => {
    const frame = element("iframe", { className: "player", title: box.querySelector("a").textContent });
    frame.sandbox = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation";
    frame.allow = "fullscreen; encrypted-media; picture-in-picture";
    frame.referrerPolicy = "strict-origin"; // videos are refused without it
    frame.src = player;
    button.remove();
    box.after(frame);
    frame.focus();
  });
  box.append(button);
}

/* Forms of API references send their request from the page, without cookies, and show the response. */
const LONGEST = 100000;
for (const panel of all(".try")) {
  const form = panel.querySelector("form");
  const output = element("output");
  form.append(output);
  panel.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const headers = new Headers();
    const query = new URLSearchParams();
    const entries = [];
    const values = {};
    let { path, method } = form.dataset;
    let body;
    for (const input of all("[data-in]", form)) {
      const { name, value, dataset } = input;
      const kind = dataset.in;
      if (kind === "path") path = path.replaceAll(`{${name}}`, encodeURIComponent(value));
      else if (kind === "query" && value) query.append(name, value);
      else if (kind === "header" && value) headers.set(name, (dataset.prefix ?? "") + value);
      else if (kind === "form" && input.type === "file") entries.push(...[...input.files].map((file) => [name, file]));
      else if (kind === "form" && value) entries.push([name, value]);
      else values[kind] = value;
      if (kind === "body" && value) {
        body = value;
        headers.set("Content-Type", dataset.type);
      }
    }
    if (values.user || values.password) {
      const login = new TextEncoder().encode(`${values.user}:${values.password}`);
      headers.set("Authorization", `Basic ${btoa(String.fromCharCode(...login))}`);
    }
    if (values.type) {
      body = values.type.startsWith("multipart") ? new FormData() : new URLSearchParams();
      for (const entry of entries) body.append(...entry);
    }
    const url = `${values.server}${path}${query.size ? `?${query}` : ""}`;
    output.textContent = "…";
    const start = performance.now();
    try {
      const signal = AbortSignal.timeout(30000);
      const response = await fetch(url, { method, headers, body, signal, credentials: "omit", referrerPolicy: "origin" });
      let text = await response.text();
      try {
        text = JSON.stringify(JSON.parse(text), null, 2);
      } catch {} // shown as it is
      const status = `${response.status} ${response.statusText}`.trim();
      const taken = `${status} · ${Math.round(performance.now() - start)} ms · ${response.headers.get("Content-Type") ?? ""}`;
      const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text;
      output.replaceChildren(element("p", { className: "label", textContent: taken }));
      if (cut) output.append(element("pre", { textContent: cut, tabIndex: 0 }));
    } catch (error) {
      const isTimeout = error.name === "TimeoutError";
      const reason = isTimeout ? "No response within 30 seconds." : "No response. The server may be unreachable, or not allow requests from this site (CORS).";
      output.textContent = reason;
    }
  });
}

/* Search: ctrl+K, ⌘K or / from everywhere, and results while typing. */
const field = document.querySelector(".search input");
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const isShortcut = (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping);
  if (!field || !isShortcut || event.altKey) return;
  event.preventDefault();
  field.focus();
  field.select();
});

if (field) {
  const results = element("div", { className: "menu found", popover: "manual" });
  const status = element("output"); // for screen readers
  field.form.append(results, status);
  field.setAttribute("aria-keyshortcuts", "Control+K Meta+K /");
  field.form.dataset.key = "/"; // shown in the field
  let wanted = "";
  let timer = 0;

  const findOnService = async (query) => {
    const response = await fetch(`${field.form.getAttribute("action")}?q=${encodeURIComponent(query)}&typing`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const links = all(".results h2 a", page).map((link) => ({
      href: link.getAttribute("href"),
      title: link.textContent,
      where: link.closest("li")?.querySelector(".where")?.textContent ?? "",
    }));
    return response.ok ? { links, message: page.querySelector(".description")?.textContent } : null;
  };

  const show = async () => {
    const query = (wanted = field.value.trim());
    if (query.length < 2) return results.hidePopover();
    // a static copy of the site brings its own search
    const found = await (self.findPages ?? findOnService)(query).catch(() => null);
    if (!found || query !== wanted || document.activeElement !== field) return;
    results.replaceChildren(
      ...found.links.map(({ href, title, where }) => {
        const item = element("a", { href, textContent: title });
        item.append(element("small", { textContent: where }));
        return item;
      }),
      ...(found.links.length ? [] : [element("p", { textContent: found.message })]),
    );
    results.showPopover({ source: field });
    status.textContent = found.message;
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 120);
  });
  field.form.addEventListener("keydown", (event) => {
    const items = all("a", results);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      wanted = ""; // results that are still on their way are not shown
      clearTimeout(timer);
      results.hidePopover();
      field.focus();
    }
    if (!step || !results.matches(":popover-open")) return;
    event.preventDefault();
    const next = items.indexOf(document.activeElement) + step;
    (items[next] ?? field).focus();
  });
  field.form.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !field.form.contains(relatedTarget)) results.hidePopover();
  });
  document.addEventListener("click", (event) => {
    if (!field.form.contains(event.target)) results.hidePopover();
  });
}

/* In `presscheck preview`, a page names its revision, and is loaded again when there is another. */
const revision = root.dataset.live;
if (revision) {
  new EventSource("/~live").addEventListener("message", (event) => {
    if (event.data !== revision) location.reload();
  });
}

/* What older browsers do not do from the style sheet: the current page and section in view, and the heading in view in the outline. */
if (!CSS.supports("scroll-initial-target", "nearest")) {
  for (const link of all(".pages [aria-current], .sections > [aria-current]")) link.scrollIntoView({ block: "nearest" });
}
if (!CSS.supports("scroll-target-group", "auto")) {
  const links = new Map(all(".outline a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = all("article :is(h2, h3)[id]").filter((heading) => links.has(heading.id));
  const mark = () => {
    const limit = parseFloat(getComputedStyle(root).scrollPaddingTop) + 8;
    const last = headings.findLast((heading) => heading.getBoundingClientRect().top <= limit) ?? headings[0];
    for (const heading of headings) links.get(heading.id).classList.toggle("current", heading === last);
  };
  document.addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  mark();
}
