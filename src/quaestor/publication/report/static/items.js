"use strict";
// The items behind a cell, from the address: items.html#3:D1:tensorflow. Item texts are inserted as text, never as markup.
(() => {
  const data = window.quaestorItems;
  const part = (name) => document.getElementById(name);
  const [list, more, which, number, from, conditions] =
    ["list", "more", "which", "number", "from", "conditions"].map(part);
  const page = 100;
  const study = document.title;
  const several = { items: data.items, attributes: data.attributes, word: "item", order: ", the most viewed first" };
  const spoken = data.quotations && { ...data.quotations, word: "quotation", order: "" };
  let set = several;
  let chosen = [];
  let shown = 0;

  const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);
  const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // Row and column names may contain colons, so every colon is tried as the separator.
  function titleOf(table, key) {
    if (table.titles) return own(table.titles, key);
    for (let place = key.indexOf(":"); place >= 0; place = key.indexOf(":", place + 1)) {
      const row = own(table.rows, key.slice(0, place));
      const column = own(table.columns, key.slice(place + 1));
      if (row !== undefined && column !== undefined) return `${row}, ${column}`;
    }
    return key;
  }

  function cellOf(address) {
    const first = address.indexOf(":");
    const table = first < 0 ? undefined : own(data.tables, address.slice(0, first));
    const key = address.slice(first + 1);
    const wanted = table && own(table.cells, key);
    return wanted ? { table, title: titleOf(table, key), wanted } : null;
  }

  function matches(wanted) {
    const tests = wanted.map(([name, keys]) => {
      const attribute = set.attributes[name];
      if (keys[0] === "*") return { codes: attribute.codes, places: null };
      return { codes: attribute.codes, places: new Set(keys.map((key) => attribute.keys.indexOf(key))) };
    });
    const found = [];
    for (let place = 0; place < set.items.length; place += 1) {
      const fits = (test) => (test.places ? test.places.has(test.codes[place]) : test.codes[place] >= 0);
      if (tests.every(fits)) found.push(place);
    }
    return found;
  }

  function words(wanted) {
    return wanted
      .map(([name, keys]) => {
        const attribute = set.attributes[name];
        if (name === "quotation") return "";
        if (keys.length > 6) return `one of ${keys.length} ${name}s`;
        if (keys[0] === "*") return `with a ${name.replaceAll("_", " ")}`;
        const titles = keys.map((key) => (key === "" ? "none" : attribute.titles[attribute.keys.indexOf(key)]));
        return `${name}: ${titles.join(" or ")}`;
      })
      .filter(Boolean)
      .join("; ");
  }

  function duration(days) {
    if (days >= 1) return counted(Math.round(days * 10) / 10, "day");
    const minutes = Math.round(days * 24 * 60);
    return minutes >= 60 ? counted(Math.round(minutes / 6) / 10, "hour") : counted(minutes, "minute");
  }

  function entry(place) {
    const [item, title, link, author, licence, created, views, score, days, note] = set.items[place];
    const made = document.createElement("li");
    const name = element(/^https?:\/\//.test(link) ? "a" : "span", "", "title");
    name.append(element("bdi", title || item));
    if (name.tagName === "A") {
      name.href = link;
      name.rel = "noopener noreferrer";
    }
    const facts = [item, created, author && `by ${author}`, licence];
    if (views !== null) facts.push(counted(views, "view"));
    if (score !== null) facts.push(`score ${score}`);
    if (days !== null) facts.push(`accepted answer after ${duration(days)}`);
    if (note) facts.push(note);
    made.append(name, element("span", facts.filter(Boolean).join(" · "), "meta"));
    return made;
  }

  function extend() {
    const next = chosen.slice(shown, shown + page).map(entry);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= chosen.length;
    return next;
  }

  function say(title, count, cell) {
    which.textContent = title;
    document.title = `${title} · ${study}`;
    number.textContent = count;
    conditions.textContent = cell && cell.wanted.length ? words(cell.wanted) : "";
    from.hidden = !cell;
    from.textContent = cell ? cell.table.title : "";
    from.href = cell ? `index.html#${cell.table.anchor}` : "index.html";
  }

  // The target of the skip link is an element of this page, not a cell.
  const elsewhere = () => location.hash.length > 1 && !document.getElementById(location.hash.slice(1));

  function show() {
    list.replaceChildren();
    shown = 0;
    let address = elsewhere() ? location.hash.slice(1) : "";
    try {
      address = decodeURIComponent(address);
    } catch {
      // Not an address written by a report: shown unchanged below.
    }
    const cell = address ? cellOf(address) : null;
    if (address && !cell) {
      chosen = [];
      more.hidden = true;
      say("No such number", `The report has no cell ${address}.`, null);
      return;
    }
    set = spoken && (cell ? cell.table.quoted : !data.items.length) ? spoken : several;
    const views = (place) => set.items[place][6] ?? -1;
    chosen = (cell ? matches(cell.wanted) : [...set.items.keys()]).sort((one, other) => views(other) - views(one));
    const order = chosen.length > 1 ? set.order : "";
    say(cell ? cell.title : `All ${set.word}s`, `${counted(chosen.length, set.word)}${order}.`, cell);
    extend();
  }

  // Focus moves to the first new item, because the button may be hidden now.
  more.addEventListener("click", () => {
    const [first] = extend();
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  });
  window.addEventListener("hashchange", () => {
    if (!location.hash || elsewhere()) show();
  });
  show();
})();
