"use strict";
// The interviewer's desk by keyboard. Everything goes into the browser's queue first, with its time,
// and is sent until it is on disk; the whole guide is in the page, so that it works offline. Notes of others
// are fetched every other second.
(() => {
  const desk = document.getElementById("conduct");
  if (!desk) return;
  const { rater, opened, give, since, protocol, csrf } = desk.dataset;
  const POLL = 1500;
  const store = `quaestor/${location.host}${give}/${opened}/${rater}/`;
  const drafts = `quaestor-draft/${location.host}${give}/${opened}/${rater}/`;
  const form = document.getElementById("write");
  const guide = document.getElementById("guide");
  let stop = Number(desk.dataset.stop);
  let head = Number(desk.dataset.head);
  let ending = false;
  let pressed = 0;
  const clock = globalThis.conductClock(desk, guide);
  const { now, leads, put, showClock, showStatus } = clock;
  const here = () => stop;
  const shown = globalThis.conductShown({ desk, guide, clock, here });
  const { stops, at, listOf, linkOf, placeOf, recount, showSkip, show } = shown;
  const writing = globalThis.conductWriting({ desk, form, drafts, shown, put, here, say });
  const line = globalThis.waitingLine({
    store, give, rater, told: desk, heard, unheard, gone,
    words: (count) => (count === 1 ? "1 note not saved yet" : `${count} notes not saved yet`),
    unreached: "no connection, keep writing, it is kept here",
    keepsWords: writing.keepRefused,
    again: (record) => `${location.pathname}?stop=${placeOf(record)}`,
  });

  // Notes go into the queue and appear on the page at once.

  function say(record) {
    if (record.act !== "clock" && clock.status() === "planned") document.getElementById("unstarted").hidden = false;
    return line.add({ ...record, when: now(), opened });
  }

  function turnClock(what, section = "") {
    clock.turn(what, section);
    pressed += 1;
    say({ act: "clock", what, section });
  }

  function heard(record) {
    const item = desk.querySelector(`.note[data-pending="${record.key}"] .waits`);
    if (item) item.hidden = true;
    if (record.act === "clock") pressed += 1;
    if (ending && !line.all().length) location.assign(protocol);
  }

  function unheard(record) {
    put(desk.querySelector(`.note[data-pending="${record.key}"] .waits`), "not accepted");
  }

  // The participant has withdrawn: delete their data from this browser.
  function gone() {
    for (const place of [localStorage, sessionStorage]) {
      for (const name of Object.keys(place)) if (name.startsWith(drafts) || name.startsWith(store)) place.removeItem(name);
    }
    location.reload();
  }

  // Ticks and marks

  function tick(box) {
    const value = box.value;
    const other = value.startsWith("other:") ? value.slice(6) : "";
    say({ act: "tick", question: at(stop).dataset.question, item: other ? "" : value, other, on: box.checked });
    box.closest("label").querySelector(".by").textContent = "";
    recount(stop);
  }

  function mark(what, on) {
    const told = { act: "mark", question: at(stop).dataset.question, what, on };
    say(told);
    show(told);
  }

  // Navigation through the guide

  function go(number) {
    writing.leave();
    if (number >= stops.length) showEnd();
    if (number < 0 || number >= stops.length) return;
    stop = number;
    for (const one of [...stops, ...desk.querySelectorAll(".notes")]) one.hidden = Number(one.dataset.stop) !== stop;
    for (const one of guide.querySelectorAll("a")) {
      if (Number(one.dataset.stop) === stop) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    }
    form.elements.stop.value = stop;
    document.title = document.title.replace(/: .*/s, () => `: ${at(stop).querySelector("h2").textContent}`);
    document.getElementById("previous").href = `${location.pathname}?stop=${Math.max(stop - 1, 0)}`;
    history.replaceState(null, "", `${location.pathname}?stop=${stop}`);
    if (leads() && at(stop).dataset.section !== clock.section()) turnClock("section", at(stop).dataset.section);
    showSkip();
    showPlace();
    writing.restore();
    at(stop).querySelector("h2").focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  // After the last question only the end remains.
  function showEnd() {
    const ending = document.getElementById("ending");
    if (ending.hidden) return;
    ending.open = true;
    ending.querySelector("button").focus();
  }

  // Keeps the current stop visible where the guide scrolls separately.
  function showPlace() {
    guide.scrollTop = linkOf(stop).offsetTop - guide.clientHeight / 2;
  }

  function next() {
    const { question, asked, skipped } = at(stop).dataset;
    if (leads() && question && asked !== "yes" && skipped !== "yes") mark("asked", true);
    go(stop + 1);
  }

  function skip() {
    if (!at(stop).dataset.question) return;
    const skipped = at(stop).dataset.skipped === "yes";
    mark("skipped", !skipped);
    if (!skipped) go(stop + 1);
  }

  // Forms, links and keys

  desk.addEventListener("submit", (event) => {
    const button = event.submitter;
    event.preventDefault();
    if (event.target === form) {
      if (!button || button.value === "save") writing.save();
      else if (button.value === "next") next();
      else skip();
      return;
    }
    if (button.value === "end") {
      writing.leave();
      ending = true;
    }
    turnClock(button.value, ["start", "section"].includes(button.value) ? at(stop).dataset.section : "");
    document.getElementById("ending").open = false;
  });

  desk.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest("a");
    if (!link) return;
    if (link.classList.contains("amend")) {
      event.preventDefault();
      writing.amend(link.closest(".note"));
    } else if (link.dataset.stop || link.id === "previous") {
      event.preventDefault();
      go(link.dataset.stop ? Number(link.dataset.stop) : stop - 1);
    }
  });

  desk.addEventListener("change", (event) => {
    if (event.target.matches(".ticks input[type=checkbox]")) tick(event.target);
  });

  function typing(event) {
    if (event.key === "Escape") {
      event.target.blur();
    } else if (event.key === "Enter" && !event.shiftKey && event.target === writing.note) {
      event.preventDefault();
      writing.save();
      if (!writing.note.value) at(stop).querySelector("h2").focus({ preventScroll: true }); // The next key is one of the desk's.
    } else if (event.key === "Enter" && event.target.matches(".add input")) {
      event.preventDefault();
      writing.addOther();
      event.target.blur(); // The next key is one of the desk's again.
    }
  }

  function amendLast() {
    const own = [...listOf(stop).querySelectorAll(".amend:not([hidden])")];
    if (form.elements.amends.value) writing.begin(false);
    else if (own.length) writing.amend(own[own.length - 1].closest(".note"));
  }

  function choose(key) {
    const row = [...at(stop).querySelectorAll(".ticks kbd")].find((one) => one.textContent === key)?.closest("label");
    row?.querySelector("input")?.click();
  }

  const keys = {
    n: next,
    p: () => go(stop - 1),
    s: skip,
    w: () => writing.begin(false),
    f: () => writing.begin(true),
    a: amendLast,
    c: () => { if (clock.status() !== "ended") document.getElementById("turn").click(); }, // Resuming after the end needs a click, so that it is not done by mistake.
    g: () => guide.querySelector("[aria-current]").focus(),
    o: () => (at(stop).querySelector(".add input") || writing.note).focus(), // What is typed next is words, in any case.
    "?": () => {
      const told = document.getElementById("keys");
      told.open = !told.open;
      if (told.open) told.querySelector("summary").focus();
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("textarea, input[type=text]")) {
      typing(event);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && guide.contains(event.target)) {
      const links = [...guide.querySelectorAll("a")];
      event.preventDefault();
      links[Math.min(Math.max(links.indexOf(document.activeElement) + step, 0), links.length - 1)].focus();
    } else if (/^[1-9]$/.test(event.key)) {
      choose(event.key);
    } else if (Object.hasOwn(keys, event.key.toLowerCase())) {
      event.preventDefault();
      keys[event.key.toLowerCase()]();
    }
  });

  // Notes of others

  let asking = false;
  async function ask() {
    if (document.hidden || asking) return;
    asking = true;
    const before = pressed;
    try {
      const answer = await fetch(`${since}?after=${head}`, { headers: { "X-CSRF-Token": csrf } }).catch(() => null);
      if (answer?.status === 410) gone();
      await line.heardFrom(answer); // Without a line nobody's notes come in; one's own are kept.
      if (!answer?.ok) return;
      const told = await answer.json();
      for (const one of told.entries) show(one);
      head = told.head;
      // What was pressed here meanwhile is newer than this answer.
      if (before !== pressed || line.all().some((one) => one.act === "clock" && !one.refused)) return;
      clock.take(told.clock);
    } catch {
      // An answer that was cut short comes again.
    } finally {
      asking = false;
    }
  }

  for (const one of line.all()) show(one, true);
  if (!writing.note.value || form.elements.amends.value) writing.restore();
  document.addEventListener("visibilitychange", ask);
  for (const turn of ["online", "offline"]) window.addEventListener(turn, ask);
  setInterval(ask, POLL);
  setInterval(() => { if (!document.hidden) showClock(); }, 500);
  showStatus();
  showSkip();
  showPlace();
  line.send();
})();
