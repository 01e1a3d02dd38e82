"use strict";
// What is done on the coding page: stretches coded, told more about, removed and undone, turns read. A turn's stretches
// are saved together as one rating, by the line in which things wait for the network.
globalThis.codingActs = ({ page, turns, selecting, codes, picked }) => {
  const { rater, opened, give } = page.dataset;
  const { all, turnOf, spokenOf, textOf, stretchesOf, isRead, setRead, made, render, point, toPoints, toUnits } = turns;
  const seen = Number(page.dataset.seen);
  const details = document.getElementById("details");
  const progress = document.getElementById("progress");
  const line = globalThis.waitingLine({
    store: `quaestor/${location.host}${give}/${opened}/${rater}/`, give, rater, told: page,
    again: (record) => `${location.pathname}?turn=${record.turn || 0}#turn-${record.turn || 0}`,
  });
  const undone = [];
  let since = performance.now();
  let away = 0;
  let touched = null; // { turn, at }: the stretch that memo, fields and removal are about

  // Saving

  const seconds = () => Math.min(Math.round((performance.now() - since - away) / 100) / 10, 3600);

  function save(turn, before) {
    const unread = !isRead(turn);
    render(turn);
    line.add({ turn: Number(turn.dataset.turn), stretches: stretchesOf(turn), seen, seconds: Math.max(seconds(), 0), opened });
    since = performance.now();
    away = 0;
    if (before) undone.push({ turn, before });
    if (unread) count(1);
  }

  function count(more) {
    progress.value = Math.min(progress.value + more, progress.max);
    document.getElementById("place").textContent = `${progress.value.toLocaleString("en")} of ${progress.max.toLocaleString("en")} turns read`;
  }

  function change(turn, stretches) {
    const before = stretchesOf(turn);
    const order = (one, other) => one.start - other.start || one.end - other.end || (one.code < other.code ? -1 : 1);
    turns.keep(turn, [...stretches].sort(order));
    save(turn, before);
  }

  function undo() {
    const last = undone.pop();
    if (!last) {
      picked.textContent = "Nothing to undo.";
      return;
    }
    turns.keep(last.turn, last.before);
    touched = null;
    showDetails();
    save(last.turn, null);
    spokenOf(last.turn).focus();
    picked.textContent = "Undone.";
  }

  // Coding

  function code(name, chosen = selecting.selection()) {
    let parts = chosen;
    const stands = turnOf(document.activeElement);
    if (!parts.length && stands && document.activeElement === spokenOf(stands)) {
      parts = [{ turn: stands, ...selecting.whole(textOf(stands), 0, textOf(stands).length) }];
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
    selecting.goOnAfter(last);
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

  // More about a stretch: its memo, and what its code asks for

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
    turns.keep(touched.turn, stretches.map((other) => (other === one ? next : other)));
    save(touched.turn, stretches);
  });
  details.addEventListener("click", (event) => {
    if (event.target.dataset.remove) remove(touched.turn, touched.at);
  });

  // Reading

  function readTo(first, last) {
    const left = all().filter((one) => !isRead(one));
    left.forEach(setRead);
    count(last >= 999999 ? progress.max - progress.value : left.length);
    line.add({ read: [first, last], opened });
    picked.textContent = "Read.";
  }

  function showAnew(turn, stretches) {
    if (!isRead(turn)) count(1);
    turns.keep(turn, stretches);
    render(turn);
  }

  // What was coded in another tab meanwhile is not overwritten by what this one remembers.
  const inOrder = (stretches) => JSON.stringify(stretches.map((one) => [one.start, one.end, one.code, one.memo, one.link, Object.entries(one.fields).sort()]));
  async function lookAgain() {
    if (line.all().length) return;
    try {
      const other = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
      if (line.all().length || Number(other.getElementById("coding").dataset.seen) !== seen) return;
      for (const [turn, fresh] of turns.toldBy(JSON.parse(other.getElementById("stretches").textContent))) {
        if (inOrder(fresh) !== inOrder(stretchesOf(turn))) showAnew(turn, fresh);
      }
    } catch {
      // Without a line the page goes on with what it has.
    }
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) away -= performance.now();
    else {
      away += performance.now();
      lookAgain();
    }
  });

  return {
    code, remove, undo, touch, readTo,
    touched: () => touched,
    // What this browser has not sent yet is shown as it was left.
    goOn() {
      for (const record of line.all()) {
        const turn = record.stretches && !record.refused && document.getElementById(`turn-${record.turn}`);
        if (turn && record.seen === seen) showAnew(turn, record.stretches);
      }
      line.send();
    },
  };
};
