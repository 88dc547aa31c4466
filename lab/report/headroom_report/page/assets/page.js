// SPDX-License-Identifier: MIT
"use strict";
(async () => {
  // What the page carries packed: tables behind the fold, pictures, answers, and the library that draws.
  const unpacked = (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
  };
  const { tables, pictures, choices } = await unpacked("packed").json();
  let drawing = null;
  const drawingLibrary = () => (drawing ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked("vega").text();
    document.head.append(script);
  })());
  const views = [];
  let off = new Set(); // contenders that are filtered away
  // A contender may be named with the way it was used; the filter has one box for all of these. What has no box stays.
  const plain = (name) => name.replace(/, through std::pmr::memory_resource|, winked out/g, "");
  const kept = (id) => (pictures[id].params ?? []).filter((one) => one.name === "shown").flatMap((one) => one.value)
    .filter((name) => !off.has(name) && !off.has(plain(name)));

  // On a narrow window a picture is drawn anew: one panel under the other, as wide as the window, names of the legend in one column.
  // What has long names beside it scrolls inside its frame, and no letter is made smaller.
  const fitted = (spec, width) => {
    if (width >= 700) return spec;
    const made = structuredClone(spec), wide = Math.max(200, width - 75);
    const visit = (part) => {
      if (!part || typeof part !== "object") return;
      if (part.facet && part.columns) part.columns = 1;
      if (part.legend && typeof part.legend === "object" && part.legend.columns) { part.legend.columns = 1; part.legend.labelLimit = width - 40; }
      if (typeof part.width === "number" && part.width > wide) part.width = wide;
      for (const [key, inner] of Object.entries(part)) if (key !== "datasets" && key !== "data" && key !== "values") visit(inner);
    };
    visit(made);
    return made;
  };
  // Drawn as they come near the window, so that a long page opens at once; those that are open, before printing.
  const draw = (id) => {
    const place = document.getElementById(id);
    if (!place || place.dataset.drawn) return Promise.resolve();
    place.dataset.drawn = "1";
    return drawingLibrary().then(() => vegaEmbed(place, fitted(pictures[id], place.clientWidth), { actions: false, renderer: "svg", tooltip: { theme: "custom" } })).then((result) => {
      views.push([id, result.view]);
      place.dataset.done = "1";
      if (off.size) result.view.signal("shown", kept(id)).runAsync();
    }).catch((error) => { place.textContent = "This picture could not be drawn: " + error.message; console.error(error); });
  };
  const drawAll = () => Promise.all(Object.keys(pictures).filter((id) => document.getElementById(id)?.offsetParent).map(draw));
  const watch = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) { watch.unobserve(entry.target); draw(entry.target.id); }
  }, { rootMargin: "1200px" });
  for (const id of Object.keys(pictures)) { const place = document.getElementById(id); if (place) watch.observe(place); }
  addEventListener("beforeprint", drawAll);
  // Of several machines one is shown; on paper, and without this script, all are.
  const sections = [...document.querySelectorAll("section.machine")], tabs = [...document.querySelectorAll(".machines a")];
  const show = (number) => {
    for (const section of sections) section.classList.toggle("other-machine", Number(section.dataset.machine) !== number);
    tabs.forEach((tab, at) => { if (at === number) tab.setAttribute("aria-current", "true"); else tab.removeAttribute("aria-current"); });
  };
  if (tabs.length) show(0);
  for (const tab of tabs) tab.addEventListener("click", (event) => { event.preventDefault(); show(Number(tab.dataset.machine)); });
  // A link into a folded experiment opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const section = target.closest("section.machine");
    if (section && tabs.length) show(Number(section.dataset.machine));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (document.readyState === "complete") reveal(); else addEventListener("load", reveal);
  // What is folded is printed when it is open; claims and promises always.
  addEventListener("beforeprint", () => { for (const group of document.querySelectorAll("details.group")) group.open = true; });

  // Long tables are laid out when they are first opened.
  for (const place of document.querySelectorAll("details.packed")) {
    place.addEventListener("toggle", () => {
      place.insertAdjacentHTML("beforeend", tables[Number(place.dataset.table)]);
      if (off.size) apply();
    }, { once: true });
  }

  // Choose yours: all answers are here; which one it is says the form.
  const put = (parent, tag, text, classes) => {
    if (!text) return;
    const made = document.createElement(tag);
    made.textContent = text;
    made.className = classes ?? "";
    parent.append(made);
  };
  for (const form of document.querySelectorAll(".choose")) {
    const { asks, answers, numbers } = choices[Number(form.dataset.machine)], ask = form.elements;
    const answer = (event) => {
      const asked = asks.find((one) => one.id === ask.matter.value), before = ask.element.value;
      if (!event || event.target === ask.matter) {
        ask.element.replaceChildren(...asked.elements.map((name) => new Option(name)));
        if (asked.elements.includes(before)) ask.element.value = before;
        for (const part of ["sized", "stay", "together"]) form.querySelector("." + part).classList.toggle("hidden", !asked[part]);
      }
      const key = [asked.id, ask.element.value, asked.sized ? ask.count.value : 0, +(asked.stay && ask.stay.checked), +(asked.together && ask.together.checked)];
      const found = answers[numbers[key.join("|")]], place = form.querySelector(".answer");
      place.replaceChildren();
      const line = document.createElement("p");
      put(line, "b", found.name, "winner");
      line.append(found.name && ": ", found.sentences.join(" "));
      place.append(line);
      put(place, "p", found.safe, "safe");
      put(place, "pre", found.code);
      put(place, "p", found.beside.join(" "), "note");
      put(place, "p", found.cell, "note cell");
    };
    form.addEventListener("input", answer);
    form.addEventListener("submit", (event) => event.preventDefault());
    answer();
  }

  // Filtering by contender: pictures, columns, and rows that belong to one.
  const boxes = [...document.querySelectorAll('.filter input[name="contender"]')];
  const apply = () => {
    off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    document.getElementById("count").textContent = off.size === 0 ? "all" : boxes.length - off.size + " of " + boxes.length;
    for (const heading of document.querySelectorAll("th[data-contender]"))
      for (const row of heading.closest("table").rows) row.cells[heading.cellIndex].classList.toggle("hidden", off.has(plain(heading.dataset.contender)));
    for (const cell of document.querySelectorAll("td[data-contender]")) cell.parentElement.classList.toggle("hidden", off.has(cell.dataset.contender));
    for (const [id, view] of views) view.signal("shown", kept(id)).runAsync();
  };
  for (const box of boxes) box.addEventListener("change", apply);
  const set = (value) => () => { for (const box of boxes) box.checked = value; apply(); };
  document.getElementById("all")?.addEventListener("click", set(true));
  document.getElementById("none")?.addEventListener("click", set(false));
})();
