"use strict";
// The coding page by mouse and keyboard. A turn's stretches are saved together as one rating; places are counted in
// characters of the shown words, where a browser counts units of UTF-16.
(() => {
  const page = document.getElementById("coding");
  if (!page) return;
  const { rater, opened, give, interview } = page.dataset;
  const seen = Number(page.dataset.seen);
  const panel = document.getElementById("panel");
  const details = document.getElementById("details");
  const picked = document.getElementById("picked");
  const find = document.getElementById("find");
  const LANES = 5;
  const line = globalThis.waitingLine({
    store: `quaestor/${location.host}${give}/${opened}/${rater}/`, give, rater, told: page,
    again: (record) => `${location.pathname}?turn=${record.turn || 0}#turn-${record.turn || 0}`,
  });
  const codes = new Map();
  for (const button of panel.querySelectorAll(".code")) {
    codes.set(button.dataset.code, { name: button.dataset.name || "in vivo", asks: JSON.parse(button.dataset.asks || "[]") });
  }
  const undone = [];
  let since = performance.now();
  let away = 0;
  let touched = null; // { turn, at }: the stretch that memo, fields and removal are about
  let caret = null; // { turn, start, end } in UTF-16, chosen by keyboard

  // Characters and units

  const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/;
  const toPoints = (text, units) => (PAIRS.test(text) ? [...text.slice(0, units)].length : units);
  function toUnits(text, points) {
    if (!PAIRS.test(text)) return points;
    let units = 0;
    for (const character of text) {
      if (points === 0) break;
      points -= 1;
      units += character.length;
    }
    return units;
  }
  const inPair = (text, units) => units > 0 && units < text.length && PAIRS.test(text.slice(units - 1, units + 1));

  // Turns

  const turns = () => [...page.querySelectorAll(".turn.own")];
  const turnOf = (node) => (node instanceof Element ? node : node?.parentElement)?.closest(".turn.own") || null;
  const spokenOf = (turn) => turn.querySelector(".spoken");
  const textOf = (turn) => spokenOf(turn).textContent;
  const known = new WeakMap();
  const given = JSON.parse(document.getElementById("stretches").textContent);
  const blank = { code: "", memo: "", fields: {}, link: "" };
  const toldIn = (told, turn) => (told[turn.dataset.turn] || []).map((one) => ({ ...blank, ...one }));
  function stretchesOf(turn) {
    if (!known.has(turn)) known.set(turn, toldIn(given, turn));
    return known.get(turn);
  }

  function lanesOf(stretches) {
    const ends = [];
    const lanes = new Array(stretches.length);
    const order = stretches.map((_, place) => place).sort((one, other) =>
      stretches[one].start - stretches[other].start || stretches[other].end - stretches[one].end || one - other);
    for (const place of order) {
      let lane = ends.findIndex((end) => end <= stretches[place].start);
      if (lane < 0) lane = ends.length;
      ends[lane] = stretches[place].end;
      lanes[place] = lane;
    }
    return lanes;
  }

  const made = (name, attributes, ...children) => {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") one.textContent = value;
      else if (value !== false) one.setAttribute(key, value);
    }
    one.append(...children);
    return one;
  };

  function render(turn) {
    const text = textOf(turn);
    const stretches = stretchesOf(turn);
    const lanes = lanesOf(stretches);
    const placed = stretches.map((one) => [toUnits(text, one.start), toUnits(text, one.end)]);
    const cuts = [...new Set([0, text.length, ...placed.flat()])].sort((one, other) => one - other);
    const pieces = [];
    for (let place = 0; place + 1 < cuts.length; place += 1) {
      const [low, high] = [cuts[place], cuts[place + 1]];
      const inside = placed.map((_, at) => at).filter((at) => placed[at][0] <= low && placed[at][1] >= high);
      inside.sort((one, other) => lanes[other] - lanes[one]);
      let piece = document.createTextNode(text.slice(low, high));
      for (const at of inside) piece = made("mark", { class: `lane-${Math.min(lanes[at], LANES - 1)}`, "data-mark": at }, piece);
      pieces.push(piece);
    }
    spokenOf(turn).replaceChildren(...pieces);
    turn.querySelector(".margin").replaceChildren(...stretches.map((one, at) => chip(turn, one, at, lanes[at], text.slice(...placed[at]))));
    turn.classList.add("read");
    turn.querySelector(".state").textContent = "read";
    draw(turn);
  }

  function chip(turn, one, at, lane, words) {
    const named = codes.get(one.code)?.name || one.code;
    const button = made("button", { type: "button", class: "chip" });
    if (one.code) button.append(named);
    else button.append(made("q", { dir: "auto", text: words }), " ", made("span", { class: "small", text: "in vivo" }));
    const told = [...Object.entries(one.fields || {}).map(([name, value]) => `${name}: ${value}`), ...(one.memo ? [one.memo] : [])];
    const more = told.length ? [made("span", { class: "more" }, ...told.map((text) => made("span", { text })))] : [];
    const remove = made("button", { type: "button", class: "quiet remove", "aria-label": `Remove ${one.code ? named : "the words in vivo"}`, text: "×" });
    return made("li", { class: `lane-${Math.min(lane, LANES - 1)}`, "data-mark": at }, button, ...more, remove);
  }

  // Bars beside the lines that a stretch covers; drawn for what is in sight.

  const SVG = "http://www.w3.org/2000/svg";
  function draw(turn) {
    const spoken = spokenOf(turn);
    let bars = turn.querySelector(".bars");
    if (!bars) {
      bars = document.createElementNS(SVG, "svg");
      bars.setAttribute("class", "bars");
      bars.setAttribute("aria-hidden", "true");
      turn.insertBefore(bars, turn.querySelector(".margin"));
    }
    const box = spoken.getBoundingClientRect();
    bars.setAttribute("width", LANES * 7);
    bars.setAttribute("height", Math.ceil(box.height));
    const extents = new Map();
    for (const mark of spoken.querySelectorAll("mark")) {
      for (const area of mark.getClientRects()) {
        const lane = mark.className.match(/lane-\d/)[0];
        const before = extents.get(mark.dataset.mark) || { top: Infinity, bottom: -Infinity, lane };
        extents.set(mark.dataset.mark, { ...before, top: Math.min(before.top, area.top), bottom: Math.max(before.bottom, area.bottom) });
      }
    }
    bars.replaceChildren(...[...extents].map(([at, { top, bottom, lane }]) => {
      const bar = document.createElementNS(SVG, "line");
      const x = Number(lane.slice(-1)) * 7 + 3;
      for (const [name, value] of Object.entries({ x1: x, x2: x, y1: top - box.top + 3, y2: bottom - box.top - 3, class: lane, "data-mark": at })) {
        bar.setAttribute(name, value);
      }
      return bar;
    }));
  }
  const inSight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !target.querySelector("mark")) continue;
      for (const told of target.querySelectorAll(".margin span.chip")) {
        told.replaceWith(made("button", { type: "button", class: "chip" }, ...told.childNodes));
      }
      draw(target);
    }
  }, { rootMargin: "400px" });

  function point(turn, at, on) {
    for (const one of turn.querySelectorAll("[data-mark].pointed")) one.classList.remove("pointed");
    if (on && at !== null) for (const one of turn.querySelectorAll(`[data-mark="${at}"]`)) one.classList.add("pointed");
  }

  // Saving

  const seconds = () => Math.min(Math.round((performance.now() - since - away) / 100) / 10, 3600);

  function save(turn, before) {
    const unread = !turn.classList.contains("read");
    render(turn);
    line.add({ turn: Number(turn.dataset.turn), stretches: stretchesOf(turn), seen, seconds: Math.max(seconds(), 0), opened });
    since = performance.now();
    away = 0;
    if (before) undone.push({ turn, before });
    if (unread) count(1);
  }

  function count(more) {
    const progress = document.getElementById("progress");
    progress.value = Math.min(progress.value + more, progress.max);
    document.getElementById("place").textContent = `${progress.value.toLocaleString("en")} of ${progress.max.toLocaleString("en")} turns read`;
  }

  function change(turn, stretches) {
    const before = stretchesOf(turn);
    const order = (one, other) => one.start - other.start || one.end - other.end || (one.code < other.code ? -1 : 1);
    known.set(turn, [...stretches].sort(order));
    save(turn, before);
  }

  function undo() {
    const last = undone.pop();
    if (!last) {
      picked.textContent = "Nothing to undo.";
      return;
    }
    known.set(last.turn, last.before);
    touched = null;
    showDetails();
    save(last.turn, null);
    spokenOf(last.turn).focus();
    picked.textContent = "Undone.";
  }

  // Selecting

  function unitsAt(turn, node, offset) {
    const range = document.createRange();
    range.selectNodeContents(spokenOf(turn));
    range.setEnd(node, offset);
    return range.toString().length;
  }

  function whole(text, start, end) {
    if (inPair(text, start)) start -= 1;
    if (inPair(text, end)) end += 1;
    while (start < end && /\s/.test(text[start])) start += 1;
    while (end > start && /\s/.test(text[end - 1])) end -= 1;
    return { start, end };
  }

  // The parts of a selection that lie in one's own turns, each with its place.
  function selection() {
    const chosen = document.getSelection();
    if (!chosen || chosen.isCollapsed || !chosen.rangeCount) return [];
    const range = chosen.getRangeAt(0);
    const found = [];
    for (const turn of turns()) {
      const spoken = spokenOf(turn);
      if (!range.intersectsNode(spoken)) continue;
      const start = spoken.contains(range.startContainer) ? unitsAt(turn, range.startContainer, range.startOffset) : 0;
      const end = spoken.contains(range.endContainer) ? unitsAt(turn, range.endContainer, range.endOffset) : textOf(turn).length;
      const place = whole(textOf(turn), start, end);
      if (place.start < place.end) found.push({ turn, ...place });
    }
    return found;
  }

  function nodeAt(turn, units) {
    const walker = document.createTreeWalker(spokenOf(turn), NodeFilter.SHOW_TEXT);
    let left = units;
    let last = null;
    while (walker.nextNode()) {
      last = walker.currentNode;
      if (left <= last.length) return [last, left];
      left -= last.length;
    }
    return last ? [last, last.length] : [spokenOf(turn), 0];
  }

  function select(turn, start, end) {
    caret = { turn, start, end };
    const [first, low] = nodeAt(turn, start);
    const [last, high] = nodeAt(turn, end);
    document.getSelection().setBaseAndExtent(first, low, last, high);
    remember();
  }

  // What was selected before somebody went to the list of codes.
  let remembered = [];
  function remember() {
    remembered = selection();
    tellPicked();
  }

  function tellPicked() {
    const parts = remembered;
    if (!parts.length) return;
    const words = parts.map((one) => textOf(one.turn).slice(one.start, one.end)).join(" … ");
    const shown = [...words];
    picked.replaceChildren(made("q", { dir: "auto", text: shown.length > 140 ? `${shown.slice(0, 140).join("")} …` : words }));
  }

  // By keyboard: words and sentences as the language has them.
  const segments = (kind, text) => {
    const found = new Intl.Segmenter(document.documentElement.lang, { granularity: kind }).segment(text);
    return [...found].filter((one) => kind === "sentence" ? one.segment.trim() : one.isWordLike).map((one) => {
      const end = one.index + one.segment.trimEnd().length;
      return { start: one.index, end };
    });
  };

  function wordwise(turn, step, grow) {
    const words = segments("word", textOf(turn));
    if (!words.length) return;
    const now = caret && caret.turn === turn ? caret : null;
    if (!now) {
      const first = step > 0 ? words[0] : words[words.length - 1];
      select(turn, first.start, first.end);
      return;
    }
    const last = words.findLastIndex((one) => one.start < now.end);
    if (grow) {
      const end = words[Math.max(Math.min(last + step, words.length - 1), 0)].end;
      if (end > now.start) select(turn, now.start, end);
      return;
    }
    const from = step > 0 ? last : words.findIndex((one) => one.end > now.start);
    const next = words[Math.max(Math.min(from + step, words.length - 1), 0)];
    select(turn, next.start, next.end);
  }

  function sentencewise(turn, step) {
    const sentences = segments("sentence", textOf(turn));
    if (!sentences.length) return;
    const now = caret && caret.turn === turn ? caret : { start: sentences[0].start, end: sentences[0].start };
    const at = sentences.findLastIndex((one) => one.start < now.end);
    const full = at >= 0 && sentences[at].end <= now.end;
    const next = step > 0 ? (full ? at + 1 : at) : at - 1;
    const end = sentences[Math.max(Math.min(next, sentences.length - 1), 0)].end;
    if (end > now.start) select(turn, now.start, end);
  }

  // Coding

  function code(name, chosen = selection()) {
    let parts = chosen;
    const stands = turnOf(document.activeElement);
    if (!parts.length && stands && document.activeElement === spokenOf(stands)) {
      parts = [{ turn: stands, ...whole(textOf(stands), 0, textOf(stands).length) }];
    }
    parts = parts.filter((one) => one.start < one.end);
    if (!parts.length) {
      picked.textContent = "Select words first, or stand on a turn with Tab.";
      return;
    }
    const link = parts.length > 1 ? crypto.getRandomValues(new Uint32Array(2)).join("-") : "";
    for (const { turn, start, end } of parts) {
      const text = textOf(turn);
      const one = { start: toPoints(text, start), end: toPoints(text, end), code: name, memo: "", fields: {}, link };
      const others = stretchesOf(turn).filter((other) => other.start !== one.start || other.end !== one.end || other.code !== name);
      if (others.length < stretchesOf(turn).length && parts.length === 1) {
        picked.textContent = `${codes.get(name).name} is there already.`;
        return;
      }
      change(turn, [...others, one]);
      touched = { turn, at: stretchesOf(turn).indexOf(one) };
    }
    const last = parts[parts.length - 1];
    document.getSelection().removeAllRanges();
    if (caret) caret = { turn: last.turn, start: last.start, end: last.end };
    picked.textContent = `Coded: ${codes.get(name).name}.`;
    showDetails();
    const asked = details.querySelector("input");
    if (asked) asked.focus({ preventScroll: true }); // the code asks for more
    else spokenOf(last.turn).focus({ preventScroll: true });
  }

  function remove(turn, at) {
    const stretches = stretchesOf(turn);
    if (!stretches[at]) return;
    change(turn, stretches.filter((_, place) => place !== at));
    touched = null;
    showDetails();
    picked.textContent = "Removed.";
    spokenOf(turn).focus({ preventScroll: true });
  }

  function touch(turn, at) {
    touched = { turn, at };
    showDetails();
    point(turn, at, true);
  }

  function showDetails() {
    const one = touched && stretchesOf(touched.turn)[touched.at];
    details.hidden = !one;
    if (!one) {
      details.replaceChildren();
      return;
    }
    const text = textOf(touched.turn);
    const words = text.slice(toUnits(text, one.start), toUnits(text, one.end));
    const entry = codes.get(one.code) || { name: one.code, asks: [] };
    const field = (label, value, name, long) => {
      const input = made(long ? "textarea" : "input", { name, ...(long ? { rows: 2 } : { type: "text" }), autocomplete: "off" });
      input.value = value;
      return made("label", { class: "wide" }, made("span", { text: label }), input);
    };
    details.replaceChildren(
      made("h2", { text: one.code ? entry.name : "in vivo" }),
      made("p", { class: "small" }, made("q", { dir: "auto", text: [...words].length > 90 ? `${[...words].slice(0, 90).join("")} …` : words })),
      ...entry.asks.map((name) => field(name, one.fields?.[name] || "", `field.${name}`, false)),
      field("Memo", one.memo || "", "memo", true),
      made("p", { class: "actions" }, made("button", { type: "button", class: "quiet", "data-remove": "yes", text: "Remove" })),
    );
  }

  details.addEventListener("change", (event) => {
    const stretches = stretchesOf(touched.turn);
    const one = stretches[touched.at];
    const value = event.target.value.trim();
    const name = event.target.name;
    const next = name === "memo" ? { ...one, memo: value } : { ...one, fields: { ...one.fields, [name.slice(6)]: value } };
    for (const [field, words] of Object.entries(next.fields || {})) if (!words) delete next.fields[field];
    known.set(touched.turn, stretches.map((other) => (other === one ? next : other)));
    save(touched.turn, stretches);
  });
  details.addEventListener("click", (event) => {
    if (event.target.dataset.remove) remove(touched.turn, touched.at);
  });

  // The list of codes

  function shown() {
    return [...panel.querySelectorAll(".code:not([hidden])")];
  }
  find.addEventListener("input", () => {
    const words = find.value.trim().toLowerCase();
    for (const button of panel.querySelectorAll(".code")) {
      button.hidden = Boolean(words) && !(button.textContent + (button.title || "")).toLowerCase().includes(words);
    }
  });
  let stood = null; // the turn from which somebody went to find a code
  panel.addEventListener("mousedown", (event) => {
    if (event.target.closest(".code")) event.preventDefault(); // the selection stays
  });
  panel.addEventListener("click", (event) => {
    const button = event.target.closest(".code");
    if (button) code(button.dataset.code);
  });

  function findingKey(event) {
    if (event.key === "Escape") {
      find.value = "";
      find.dispatchEvent(new Event("input"));
      goBack();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const first = shown().find((one) => find.value.trim() ? true : one.dataset.code);
      find.value = "";
      find.dispatchEvent(new Event("input"));
      const parts = remembered;
      goBack();
      if (first) code(first.dataset.code, parts);
    }
  }

  function goBack() {
    const back = remembered.length ? remembered[remembered.length - 1].turn : stood;
    if (back) spokenOf(back).focus({ preventScroll: true });
    else find.blur();
  }

  function toFind() {
    stood = turnOf(document.activeElement);
    find.focus();
  }

  function nextUnread() {
    const every = turns();
    const at = every.indexOf(turnOf(document.activeElement));
    const next = [...every.slice(at + 1), ...every.slice(0, at + 1)].find((one) => !one.classList.contains("read"));
    if (next) spokenOf(next).focus();
    else picked.textContent = "Every turn of this page is read.";
  }

  function moveTo(turn, step) {
    const every = turns();
    const next = every[every.indexOf(turn) + step];
    if (!next) return;
    document.getSelection().removeAllRanges();
    caret = null;
    spokenOf(next).focus();
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target === find) {
      findingKey(event);
      return;
    }
    if (event.target.matches("textarea, input, select")) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.matches("input"))) {
        event.preventDefault();
        event.target.blur();
        if (touched) spokenOf(touched.turn).focus({ preventScroll: true });
      }
      return;
    }
    const turn = event.target.matches(".spoken") ? turnOf(event.target) : null;
    if (turn && moved(turn, event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape") {
      document.getSelection().removeAllRanges();
      caret = null;
      return;
    }
    if (event.target.matches("a, button, summary") && [" ", "Enter"].includes(event.key)) return;
    const button = [...panel.querySelectorAll(".code[data-key]")].find((one) => one.dataset.key && one.dataset.key === event.key);
    const acts = {
      "/": toFind,
      Enter: toFind,
      z: undo,
      n: nextUnread,
      m: () => { if (touched) details.querySelector("textarea").focus(); },
      x: () => removeHere(event),
      Delete: () => removeHere(event),
      w: () => { if (turn) select(turn, 0, textOf(turn).length); },
    };
    if (button) code(button.dataset.code);
    else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  }

  function removeHere(event) {
    const item = event.target.closest?.("li[data-mark]");
    if (item) remove(turnOf(item), Number(item.dataset.mark));
    else if (touched) remove(touched.turn, touched.at);
  }

  function moved(turn, event) {
    const forward = getComputedStyle(spokenOf(turn)).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forward === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
    if (event.key === forward || event.key === back) wordwise(turn, event.key === forward ? 1 : -1, event.shiftKey);
    else if (event.key === "ArrowDown") event.shiftKey ? sentencewise(turn, 1) : moveTo(turn, 1);
    else if (event.key === "ArrowUp") event.shiftKey ? sentencewise(turn, -1) : moveTo(turn, -1);
    else return false;
    return true;
  }

  page.addEventListener("click", (event) => {
    const item = event.target.closest(".margin li[data-mark]");
    if (item && event.target.closest(".remove")) {
      event.preventDefault();
      remove(turnOf(item), Number(item.dataset.mark));
    } else if (item && event.target.closest(".chip")) {
      touch(turnOf(item), Number(item.dataset.mark));
    }
  });
  for (const [begins, ends] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    page.addEventListener(begins, (event) => {
      const one = event.target.closest?.("[data-mark]");
      if (one && turnOf(one)) point(turnOf(one), one.dataset.mark, true);
    });
    page.addEventListener(ends, (event) => {
      const one = event.target.closest?.("[data-mark]");
      if (one && turnOf(one)) point(turnOf(one), null, false);
    });
  }
  page.addEventListener("pointerdown", () => { caret = null; });
  document.addEventListener("selectionchange", () => { if (!panel.contains(document.activeElement)) remember(); });

  page.querySelector(".to-the-end").addEventListener("submit", (event) => {
    const range = event.submitter?.value;
    if (!range) return;
    event.preventDefault();
    const [first, last] = range.split("-").map(Number);
    const left = turns().filter((one) => !one.classList.contains("read"));
    for (const turn of left) {
      turn.classList.add("read");
      turn.querySelector(".state").textContent = "read";
    }
    const progress = document.getElementById("progress");
    count(last >= 999999 ? progress.max - progress.value : left.length);
    line.add({ read: [first, last], opened });
    picked.textContent = "Read.";
    const next = document.querySelector(".pager a[rel=next]");
    event.target.querySelector(".actions").replaceChildren(next && last < 999999
      ? made("a", { class: "button", href: next.href, text: "On to the next page" })
      : made("a", { class: "button", href: page.dataset.list || "..", text: "Back to the transcripts" }));
    event.target.querySelector(".actions a").focus();
  });

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) away -= performance.now();
    else {
      away += performance.now();
      lookAgain();
    }
  });

  // What was coded in another tab meanwhile is not overwritten by what this one remembers.
  const inOrder = (stretches) => JSON.stringify(stretches.map((one) => [one.start, one.end, one.code, one.memo, one.link, Object.entries(one.fields).sort()]));
  async function lookAgain() {
    if (line.all().length) return;
    try {
      const other = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
      if (line.all().length || Number(other.getElementById("coding").dataset.seen) !== seen) return;
      const now = JSON.parse(other.getElementById("stretches").textContent);
      for (const turn of turns()) {
        const fresh = toldIn(now, turn);
        if (inOrder(fresh) === inOrder(stretchesOf(turn))) continue;
        if (!turn.classList.contains("read")) count(1);
        known.set(turn, fresh);
        render(turn);
      }
    } catch {
      // Without a line the page goes on with what it has.
    }
  }
  document.addEventListener("keydown", pressed);
  window.addEventListener("resize", () => { for (const turn of turns()) if (turn.querySelector(".bars")) draw(turn); });

  // What this browser has not sent yet is shown as it was left.
  for (const record of line.all()) {
    const turn = record.stretches && !record.refused && document.getElementById(`turn-${record.turn}`);
    if (!turn || record.seen !== seen) continue;
    if (!turn.classList.contains("read")) count(1);
    known.set(turn, record.stretches);
    render(turn);
  }
  document.body.classList.add("scripted");
  panel.hidden = false;
  for (const turn of turns()) inSight.observe(turn);
  line.send();
})();
