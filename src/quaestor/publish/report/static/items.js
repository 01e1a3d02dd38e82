"use strict";
// The items behind a cell, from the address: items.html#3:D1:tensorflow. Everything an item says is text, never markup.
(() => {
  const data = window.quaestorItems;
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const which = document.getElementById("which");
  const conditions = document.getElementById("conditions");
  const page = 100;
  let chosen = [];
  let shown = 0;

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function cellOf(address) {
    const first = address.indexOf(":");
    const last = address.lastIndexOf(":");
    if (first < 0 || last <= first) return null;
    const table = data.tables[address.slice(0, first)];
    const row = address.slice(first + 1, last);
    const column = address.slice(last + 1);
    const found = table && table.cells[`${row}:${column}`];
    return found ? { title: table.title, row: table.rows[row], column: table.columns[column], conditions: found } : null;
  }

  function matches(wanted) {
    const tests = wanted.map(([name, keys]) => {
      const attribute = data.attributes[name];
      return { codes: attribute.codes, places: new Set(keys.map((key) => attribute.keys.indexOf(key))) };
    });
    const found = [];
    for (let place = 0; place < data.items.length; place += 1) {
      if (tests.every((test) => test.places.has(test.codes[place]))) found.push(place);
    }
    return found;
  }

  function words(wanted) {
    return wanted
      .map(([name, keys]) => {
        const attribute = data.attributes[name];
        const titles = keys.map((key) => (key === "" ? "none" : attribute.titles[attribute.keys.indexOf(key)]));
        return `${name}: ${titles.join(" or ")}`;
      })
      .join("; ");
  }

  function duration(days) {
    if (days >= 1) return `${days.toLocaleString("en")} days`;
    const minutes = Math.round(days * 24 * 60);
    return minutes >= 60 ? `${Math.round(minutes / 6) / 10} hours` : `${minutes} minutes`;
  }

  function entry(place) {
    const [item, title, link, author, licence, created, views, score, days] = data.items[place];
    const made = document.createElement("li");
    const name = /^https?:\/\//.test(link) ? element("a", title, "title") : element("span", title, "title");
    if (name.tagName === "A") {
      name.href = link;
      name.rel = "noopener noreferrer";
    }
    const facts = [item, created, author && `by ${author}`, licence];
    if (views !== null) facts.push(`${views.toLocaleString("en")} views`);
    if (score !== null) facts.push(`score ${score}`);
    if (days !== null) facts.push(`accepted answer after ${duration(days)}`);
    made.append(name, element("span", facts.filter(Boolean).join(" · "), "meta"));
    return made;
  }

  function extend() {
    const next = chosen.slice(shown, shown + page).map(entry);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= chosen.length;
  }

  function show() {
    list.replaceChildren();
    shown = 0;
    let address = "";
    try {
      address = decodeURIComponent(location.hash.slice(1));
    } catch {
      address = "";
    }
    const cell = address ? cellOf(address) : null;
    if (address && !cell) {
      which.textContent = "No such number";
      conditions.textContent = `Nothing in the report is called ${address}.`;
      chosen = [];
      more.hidden = true;
      return;
    }
    chosen = cell ? matches(cell.conditions) : data.items.map((_, place) => place);
    which.textContent = cell ? `${cell.row}, ${cell.column}` : "All items";
    const narrowed = cell && cell.conditions.length ? ` ${words(cell.conditions)}.` : "";
    conditions.textContent = `${cell ? `${cell.title}. ` : ""}${chosen.length.toLocaleString("en")} items.${narrowed}`;
    extend();
  }

  more.addEventListener("click", extend);
  window.addEventListener("hashchange", show);
  show();
})();
