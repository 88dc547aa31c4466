"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const views = [];
  let off = new Set(); // contenders that are filtered away
  // A picture may name a contender with the strategy it was used under; the filter has one box for all of these. What has no box stays.
  const plain = (name) => name.replace(/ AS\d+(?=$|#2$| under )/, "");
  const kept = (id) => (pictures[id].params ?? []).filter((one) => one.name === "shown").flatMap((one) => one.value)
    .filter((name) => !off.has(name) && !off.has(plain(name)));

  // Drawn as they come near the window, so that a long page opens at once; those that are open, before printing.
  const draw = (id) => {
    const place = document.getElementById(id);
    if (!place || place.dataset.drawn) return Promise.resolve();
    place.dataset.drawn = "1";
    return vegaEmbed(place, pictures[id], { actions: false, renderer: "svg", tooltip: { theme: "custom" } }).then((result) => {
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
  // A link into a folded experiment opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal);
  // What is folded is printed when it is open; claims and promises always.
  addEventListener("beforeprint", () => { for (const group of document.querySelectorAll("details.group")) group.open = true; });

  // Sorting: a click or Enter on a heading; again for the other way.
  const key = (cell) => {
    const text = cell.dataset.s ?? cell.textContent.trim();
    const number = text === "inf" ? Infinity : Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".sortable th button");
    if (!button) return;
    const heading = button.parentElement, table = heading.closest("table"), index = heading.cellIndex, body = table.tBodies[0];
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    const rows = [...body.rows].map((row) => [key(row.cells[index]), row]);
    // What is missing stays at the end, whichever way the rest is sorted.
    rows.sort((a, b) => (a[0] === Infinity) - (b[0] === Infinity) || direction * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
  });

  // Long tables behind the fold are packed; each is laid out when it is first opened.
  let unpacking = null;
  const unpacked = () => (unpacking ??= (async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  })());
  const add = (parent, tag, text, classes) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (classes) made.className = classes;
    parent.append(made);
    return made;
  };
  const layOut = async (place) => {
    const data = (await unpacked())[Number(place.dataset.table)];
    const frame = add(place, "div", "", "scroll long");
    frame.tabIndex = 0; frame.setAttribute("role", "region"); frame.setAttribute("aria-label", data.caption);
    const table = add(frame, "table", "", "sortable"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const [title, number, contender] of data.columns) {
      const heading = add(head, "th", "", number ? "n" : "");
      heading.scope = "col";
      if (contender) heading.dataset.contender = contender;
      add(heading, "button", title).type = "button";
    }
    for (const cells of data.rows) {
      const row = body.insertRow();
      cells.forEach((cell, index) => {
        const [text, sort, mark, hover, contender] = Array.isArray(cell) ? cell : [cell];
        const made = add(row, "td", text, [data.columns[index][1] ? "n" : "", mark || ""].join(" ").trim());
        if (sort) made.dataset.s = sort;
        if (hover) made.title = hover;
        if (contender) made.dataset.contender = contender;
      });
    }
    for (const note of data.notes) add(place, "p", note, "note");
    place.dataset.done = "1";
    if (off.size) apply();
  };
  for (const place of document.querySelectorAll("details.packed")) {
    place.addEventListener("toggle", () => {
      if (!place.open || place.dataset.begun) return;
      place.dataset.begun = "1";
      layOut(place).catch((error) => { add(place, "p", "This table could not be unpacked: " + error.message); console.error(error); });
    });
  }

  // Choose yours: the nearest cell by size, and in it the best of those that may be.
  const choices = JSON.parse(document.getElementById("choices")?.textContent || "{}");
  const put = (parent, tag, text) => { const made = document.createElement(tag); made.textContent = text; parent.append(made); return made; };
  for (const form of document.querySelectorAll(".choose")) {
    const rows = choices.rows[Number(form.dataset.machine)];
    const offer = () => {
      const rowsHere = rows.filter((row) => row.matter === form.elements.matter.value), select = form.elements.element, before = select.value;
      const names = [...new Set(rowsHere.map((row) => row.element))];
      select.replaceChildren(...names.map((name) => new Option(name)));
      if (names.includes(before)) select.value = before;
      form.querySelector(".sized").classList.toggle("hidden", !rowsHere.every((row) => row.sized));
      form.querySelector(".stay").classList.toggle("hidden", rowsHere.every((row) => row.found.every((one) => one.stays)));
    };
    const count = () => Number(form.elements.count.value);
    const far = (row, near) => {
      if (!row.sized) return "";
      const sizes = near.map((one) => one.elements), wanted = count();
      if (wanted > choices.near * Math.max(...sizes)) return "Nothing so large was measured here: this is the largest.";
      if (wanted * choices.near < Math.min(...sizes)) return "Nothing so small was measured here: this is the smallest.";
      return Math.max(wanted / row.elements, row.elements / wanted) > choices.near ? "This size was not measured here: this is the nearest." : "";
    };
    const code = (one) => one.code_many && count() > one.usual ? one.code_many.replace("{N}", count().toFixed(0)) : one.code || "";
    const answer = (event) => {
      if (!event || event.target === form.elements.matter) offer();
      const place = form.querySelector(".answer"), wanted = Math.log(count());
      place.replaceChildren();
      const near = rows.filter((row) => row.matter === form.elements.matter.value && row.element === form.elements.element.value);
      if (!near.length) { put(place, "p", "That was not measured in these results."); return; }
      const away = (row) => Math.abs(Math.log(row.elements) - wanted);
      const row = near.reduce((best, other) => (away(other) < away(best) ? other : best));
      const found = row.found.filter((one) => one.stays || !form.elements.stay.checked);
      if (!found.length) { put(place, "p", "No contender measured there keeps its elements in place."); return; }
      const [first, second] = found, level = found.filter((one) => one !== first && one.low <= first.high);
      const line = put(place, "p", "");
      put(line, "b", first.name).className = "winner";
      line.append(": " + first.text + (first.ratio && first.name !== first.by ? ", " + first.ratio + " times " + first.by + "'s" : "") + ".");
      if (first.rounds < 3) line.append(" It was measured in fewer than three rounds, so the order may be accident.");
      if (level.length) line.append(" Not told apart from it by these rounds: " + level.map((one) => one.name).join(", ") + ".");
      else if (second) line.append(" Next is " + second.name + " at " + (second.value / first.value).toFixed(2) + " times as much.");
      put(place, "p", first.safe).className = "safe";
      if (code(first)) put(place, "pre", code(first));
      put(place, "p", "From the cell " + row.where + ". " + far(row, near)).className = "note cell";
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
    for (const cell of document.querySelectorAll("th[data-contender]")) cell.classList.toggle("hidden", off.has(cell.dataset.contender));
    for (const cell of document.querySelectorAll("td[data-contender]")) {
      const heading = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
      if (heading.dataset.contender) cell.classList.toggle("hidden", off.has(cell.dataset.contender));
      else cell.parentElement.classList.toggle("hidden", off.has(cell.dataset.contender));
    }
    for (const [id, view] of views) view.signal("shown", kept(id)).runAsync();
  };
  for (const box of boxes) box.addEventListener("change", apply);
  const set = (value) => () => { for (const box of boxes) box.checked = value; apply(); };
  document.getElementById("all")?.addEventListener("click", set(true));
  document.getElementById("none")?.addEventListener("click", set(false));
})();
