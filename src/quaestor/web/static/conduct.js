"use strict";
// The interviewer's desk by keyboard. Whatever is written goes into the browser's own line first, with the moment of it,
// and is sent until the disk has it; the whole guide is in the page, so that a cut line stops nobody. What others write
// comes in every other second.
(() => {
  const desk = document.getElementById("conduct");
  if (!desk) return;
  const { rater, opened, give, since, protocol, csrf } = desk.dataset;
  const POLL = 1500;
  const store = `quaestor/${location.host}${give}/${opened}/${rater}/`;
  const drafts = `quaestor-draft/${location.host}${give}/${opened}/${rater}/`;
  const form = document.getElementById("write");
  const note = document.getElementById("note");
  const guide = document.getElementById("guide");
  const news = document.getElementById("news");
  const stops = [...desk.querySelectorAll(".stop")];
  let stop = Number(desk.dataset.stop);
  let head = Number(desk.dataset.head);
  let clock = JSON.parse(desk.dataset.clock);
  let skew = Date.now() / 1000 - clock.now;
  let ending = false;
  let pressed = 0;
  const line = globalThis.waitingLine({
    store, give, rater, told: desk, heard, gone,
    words: (count) => (count === 1 ? "1 note waits" : `${count} notes wait`),
    again: (record) => {
      const at = placeOf(record);
      if (record.text) keepDraft(at, record.text); // What was refused is not lost: it can be mended.
      return `${location.pathname}?stop=${at}`;
    },
  });

  // The clock: the server's moments, whatever this machine believes.

  const now = () => Date.now() / 1000 - skew;
  const goes = () => (clock.runs ? Math.max(now() - clock.now, 0) : 0);
  const elapsed = () => clock.elapsed + goes();
  const spent = (section) => (clock.spent[section] || 0) + (section === clock.section ? goes() : 0);
  const leads = () => ["running", "paused"].includes(clock.status) && clock.by === rater;

  function words(seconds) {
    const whole = Math.floor(seconds);
    const two = (value) => String(value).padStart(2, "0");
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, two(whole % 60)];
    return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
  }

  function put(place, text) {
    if (place && place.textContent !== text) place.textContent = text;
  }

  function showTime(box, used, planned) {
    put(box.querySelector(".time"), words(used));
    const over = box.querySelector(".over");
    over.hidden = used <= planned;
    put(over, `${words(Math.max(used - planned, 0))} over`);
    box.classList.toggle("late", used > planned);
    box.querySelector(".fill").setAttribute("width", Math.min(planned ? (1000 * used) / planned : 0, 1000).toFixed(1));
  }

  function showClock() {
    showTime(document.getElementById("clock-all"), elapsed(), Number(desk.dataset.minutes) * 60);
    const parts = [...guide.querySelectorAll("section")];
    const running = parts.find((one) => one.dataset.section === clock.section) || parts[0];
    const own = document.getElementById("clock-section");
    put(own.querySelector(".name"), running.dataset.title);
    put(own.querySelector(".minutes"), String(Number(running.dataset.minutes)));
    showTime(own, spent(running.dataset.section), Number(running.dataset.minutes) * 60);
    for (const one of parts) {
      one.classList.toggle("now", one === running && clock.status !== "planned");
      showTime(one, spent(one.dataset.section), Number(one.dataset.minutes) * 60);
    }
  }

  function showStatus() {
    const { status } = clock;
    desk.className = `conduct ${status}`;
    put(document.getElementById("state"), { planned: "Not started", running: "Running", paused: "Paused", ended: "Ended" }[status]);
    const turn = document.getElementById("turn");
    turn.value = { planned: "start", running: "pause", paused: "go on", ended: "go on" }[status];
    turn.classList.toggle("quiet", status === "running");
    put(turn.querySelector(".words"), { planned: "Start", running: "Pause", paused: "Go on", ended: "Go on talking" }[status]);
    document.getElementById("ending").hidden = ["planned", "ended"].includes(status);
    document.getElementById("to-protocol").hidden = status !== "ended";
    const over = document.getElementById("take-over");
    over.hidden = !["running", "paused"].includes(status) || leads();
    put(over.querySelector(".by"), clock.by);
    put(over.querySelector(".name"), guide.querySelector(`section[data-section="${clock.section}"]`)?.dataset.title || "");
    showClock();
  }

  function turnClock(what, section = "") {
    clock = { ...clock, spent: { ...clock.spent, [clock.section]: spent(clock.section) }, elapsed: elapsed(), now: now() };
    const status = { start: "running", "go on": "running", pause: "paused", end: "ended" }[what] || clock.status;
    const mine = ["start", "section"].includes(what) ? { by: rater, section } : {};
    clock = { ...clock, ...mine, status, runs: status === "running" };
    pressed += 1;
    say({ act: "clock", what, section });
    showStatus();
  }

  // What is said goes into the line, and into the page at once.

  const say = (record) => line.add({ ...record, when: now(), opened });

  function heard(record) {
    const item = desk.querySelector(`.note[data-pending="${record.key}"] .waits`);
    if (item) item.hidden = true;
    if (record.act === "clock") pressed += 1;
    if (ending && !line.all().length) location.assign(protocol);
  }

  // They have withdrawn: nothing of them stays in this browser.
  function gone() {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(drafts) || name.startsWith(store)) localStorage.removeItem(name);
    }
    location.reload();
  }

  const at = (number) => stops[number];
  const listOf = (number) => desk.querySelector(`.notes[data-stop="${number}"]`);
  const linkOf = (number) => guide.querySelector(`a[data-stop="${number}"]`);

  function placeOf(record) {
    const found = stops.findIndex((one) => (record.question
      ? one.dataset.question === record.question
      : !one.dataset.question && one.dataset.section === record.section));
    return Math.max(found, 0);
  }

  function showNote(told, waits) {
    const root = told.amends || told.key;
    const number = placeOf(told);
    let item = desk.querySelector(`.note[data-key="${CSS.escape(root)}"]`);
    if (item?.dataset.pending && !waits && item.dataset.pending !== told.key) return; // an older word than the one shown
    if (!told.text) {
      item?.remove();
      recount(number);
      return;
    }
    if (!item) {
      item = document.getElementById("note-item").content.firstElementChild.cloneNode(true);
      item.dataset.key = root;
      item.classList.toggle("follow-up", Boolean(told.follow_up));
      item.querySelector(".kind").hidden = !told.follow_up;
      item.querySelector("time").textContent = clock.status === "ended" ? "afterwards" : words(told.number ? told.at : Math.max(elapsed() - (now() - told.when), 0));
      item.querySelector(".by").textContent = told.by || rater;
      const amend = item.querySelector(".amend");
      amend.hidden = Boolean(told.by) && told.by !== rater;
      amend.href = `${location.pathname}?stop=${number}&amend=${encodeURIComponent(root)}`;
      listOf(number).append(item);
      if (told.by && told.by !== rater) put(news, `New note by ${told.by}: ${told.text}`);
    }
    item.querySelector(".text").textContent = told.text;
    item.querySelector(".amended").hidden = !told.amends && item.querySelector(".amended").hidden;
    item.querySelector(".waits").hidden = !waits;
    if (waits) item.dataset.pending = told.key;
    else delete item.dataset.pending;
    recount(number);
  }

  function showTick({ question, item, other, on, by }) {
    const number = placeOf({ question });
    const list = at(number).querySelector(".ticks ul");
    if (!list) return;
    const value = item || `other:${other}`;
    let box = [...list.querySelectorAll("input")].find((one) => one.value === value);
    if (!box && on) {
      const row = document.getElementById("tick-item").content.firstElementChild.cloneNode(true);
      box = row.querySelector("input");
      box.name = `item.${number}`;
      box.value = value;
      row.querySelector(".label").textContent = other;
      list.append(row);
    }
    if (!box) return;
    box.checked = on;
    box.closest("label").querySelector(".by").textContent = on && by !== rater ? by || "" : "";
    recount(number);
  }

  function showMark({ question, what, on }) {
    const place = at(placeOf({ question }));
    place.dataset[what] = on ? "yes" : "no";
    recount(Number(place.dataset.stop));
  }

  function recount(number) {
    const place = at(number);
    const notes = listOf(number).children.length;
    const link = linkOf(number);
    const count = link.querySelector(".count");
    count.hidden = !notes;
    put(count, `${notes} ${notes === 1 ? "note" : "notes"}`);
    const skipped = place.dataset.skipped === "yes";
    const asked = place.dataset.asked === "yes" || notes || place.querySelector(".ticks input:checked");
    const state = !place.dataset.question ? "" : skipped ? "skipped" : asked ? "asked" : "";
    place.dataset.state = state;
    link.dataset.state = state;
    put(link.querySelector(".mark"), state);
    if (number === stop) showSkip();
  }

  function showSkip() {
    const skip = document.getElementById("skip");
    const skipped = at(stop).dataset.state === "skipped";
    skip.hidden = !at(stop).dataset.question;
    skip.value = skipped ? "ask" : "skip";
    put(skip.querySelector(".words"), skipped ? "Ask it after all" : "Skip");
  }

  function show(told, waits = false) {
    if (told.act === "note") showNote(told, waits);
    else if (told.act === "tick") showTick(told);
    else if (told.act === "mark") showMark(told);
  }

  // Writing

  const target = () => ({ question: at(stop).dataset.question, section: at(stop).dataset.question ? "" : at(stop).dataset.section });

  function keepDraft(number, text) {
    try {
      if (text) localStorage.setItem(drafts + number, text);
      else localStorage.removeItem(drafts + number);
    } catch {
      // The browser keeps nothing: what is typed is in the field.
    }
  }

  function saveNote(mayTakeBack = true) {
    const text = note.value.trim();
    const amends = form.elements.amends.value;
    const shown = amends && desk.querySelector(`.note[data-key="${CSS.escape(amends)}"]`);
    if (text || (shown && mayTakeBack)) {
      const follow = amends ? shown?.classList.contains("follow-up") || false : form.elements.follow_up.checked;
      const made = say({ act: "note", ...target(), text, follow_up: follow, ...(amends ? { amends } : {}) });
      show(made, true);
    }
    amend("", "");
  }

  function amend(key, text) {
    form.elements.amends.value = key;
    note.value = text;
    form.elements.follow_up.checked = false;
    form.elements.follow_up.closest("p").hidden = Boolean(key);
    put(form.querySelector("label .words"), key ? "Amend your note; empty takes it back" : "Note");
    keepDraft(stop, "");
  }

  function tick(box) {
    const value = box.value;
    const other = value.startsWith("other:") ? value.slice(6) : "";
    say({ act: "tick", question: at(stop).dataset.question, item: other ? "" : value, other, on: box.checked });
    box.closest("label").querySelector(".by").textContent = "";
    recount(stop);
  }

  function addOther(field) {
    const other = field.value.split(/\s+/).filter(Boolean).join(" ");
    field.value = "";
    if (!other) return;
    const told = { act: "tick", question: at(stop).dataset.question, item: "", other, on: true };
    say(told);
    show(told);
  }

  function mark(what, on) {
    const told = { act: "mark", question: at(stop).dataset.question, what, on };
    say(told);
    show(told);
  }

  // The way through the guide

  function go(number) {
    if (number < 0 || number >= stops.length) return;
    const field = at(stop).querySelector(".add input");
    if (field) addOther(field);
    saveNote(false); // What was typed here belongs here.
    stop = number;
    for (const one of [...stops, ...desk.querySelectorAll(".notes")]) one.hidden = Number(one.dataset.stop) !== stop;
    for (const one of guide.querySelectorAll("a")) {
      if (Number(one.dataset.stop) === stop) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    }
    form.elements.stop.value = stop;
    document.title = document.title.replace(/: .*/s, `: ${at(stop).querySelector("h2").textContent}`);
    document.getElementById("previous").href = `${location.pathname}?stop=${Math.max(stop - 1, 0)}`;
    history.replaceState(null, "", `${location.pathname}?stop=${stop}`);
    if (leads() && at(stop).dataset.section !== clock.section) turnClock("section", at(stop).dataset.section);
    showSkip();
    showPlace();
    at(stop).querySelector("h2").focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  // Where the guide scrolls by itself, the place is in sight.
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
      if (!button || button.value === "save") saveNote();
      else if (button.value === "next") next();
      else skip();
      return;
    }
    if (button.value === "end") {
      const field = at(stop).querySelector(".add input");
      if (field) addOther(field);
      saveNote(false);
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
      const item = link.closest(".note");
      amend(item.dataset.key, item.querySelector(".text").textContent);
      note.focus();
    } else if (link.dataset.stop || link.id === "previous") {
      event.preventDefault();
      go(link.dataset.stop ? Number(link.dataset.stop) : stop - 1);
    }
  });

  desk.addEventListener("change", (event) => {
    if (event.target.matches(".ticks input[type=checkbox]")) tick(event.target);
  });
  note.addEventListener("input", () => { if (!form.elements.amends.value) keepDraft(stop, note.value); });

  function typing(event) {
    if (event.key === "Escape") {
      event.target.blur();
    } else if (event.key === "Enter" && !event.shiftKey && event.target === note) {
      event.preventDefault();
      saveNote();
    } else if (event.key === "Enter" && event.target.matches(".add input")) {
      event.preventDefault();
      addOther(event.target);
    }
  }

  function write(follow) {
    if (!form.elements.amends.value) form.elements.follow_up.checked = follow;
    note.focus();
  }

  function amendLast() {
    const own = [...listOf(stop).querySelectorAll(".amend:not([hidden])")];
    if (own.length) own[own.length - 1].click();
  }

  function choose(key) {
    const row = [...at(stop).querySelectorAll(".ticks kbd")].find((one) => one.textContent === key)?.closest("label");
    row?.querySelector("input")?.click();
  }

  const keys = {
    n: next,
    p: () => go(stop - 1),
    s: skip,
    w: () => write(false),
    f: () => write(true),
    a: amendLast,
    c: () => document.getElementById("turn").click(),
    g: () => guide.querySelector("[aria-current]").focus(),
    o: () => at(stop).querySelector(".add input")?.focus(),
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
    } else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  // What others write

  let asking = false;
  async function ask() {
    if (document.hidden || asking) return;
    asking = true;
    const before = pressed;
    try {
      const answer = await fetch(`${since}?after=${head}`, { headers: { "X-CSRF-Token": csrf } });
      if (answer.status === 410) gone();
      if (!answer.ok) return;
      const told = await answer.json();
      for (const one of told.entries) show(one);
      head = told.head;
      // What was pressed here meanwhile is newer than this answer.
      if (before !== pressed || line.all().some((one) => one.act === "clock" && !one.refused)) return;
      skew = Date.now() / 1000 - told.clock.now;
      clock = told.clock;
      showStatus();
    } catch {
      // Without a line nobody's notes come in; one's own are kept.
    } finally {
      asking = false;
    }
  }

  for (const one of line.all()) show(one, true);
  if (!note.value && !form.elements.amends.value) note.value = localStorage.getItem(drafts + stop) || "";
  document.addEventListener("visibilitychange", ask);
  setInterval(ask, POLL);
  setInterval(() => { if (!document.hidden) showClock(); }, 500);
  showStatus();
  showSkip();
  showPlace();
  line.send();
})();
