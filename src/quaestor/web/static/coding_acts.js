"use strict";
// Acts on the coding page: code, describe, remove and undo passages, and mark turns read. The passages of a turn
// are saved together as one rating, through the queue in line.js.
globalThis.codingActs = ({ page, turns, selecting, codes, picked }) => {
  const { rater, queue, opened, give } = page.dataset;
  const { all, turnOf, spokenOf, textOf, stretchesOf, isRead, setRead, made, render, toPoints } = turns;
  const seen = Number(page.dataset.seen);
  const progress = document.getElementById("progress");
  const details = globalThis.codingDetails({ page, turns, codes, picked, change, remove });
  const line = globalThis.waitingLine({
    store: `quaestor/${location.host}${give}/${opened}/${queue}/`, give, rater, told: page, heard, refusal,
    again: (record) => placeOf(record),
  });
  const placeOf = ({ turn = 0 }) => `${location.pathname}?turn=${turn}#turn-${turn}`;
  const shownTurn = (record) => record.stretches && record.seen === seen && document.getElementById(`turn-${record.turn}`);
  const undone = [];
  let since = performance.now();
  let away = 0;

  // Saving

  const seconds = () => Math.min(Math.round((performance.now() - since - away) / 100) / 10, 3600);
  const order = (one, other) => one.start - other.start || one.end - other.end || (one.code < other.code ? -1 : 1);

  function save(turn, stretches, before = stretchesOf(turn)) {
    const unread = !isRead(turn);
    turns.keep(turn, [...stretches].sort(order));
    render(turn);
    line.add({ turn: Number(turn.dataset.turn), stretches: stretchesOf(turn), before, seen, seconds: Math.max(seconds(), 0), opened });
    since = performance.now();
    away = 0;
    if (unread) count(1);
  }

  function count(more) {
    progress.value = Math.min(progress.value + more, progress.max);
    document.getElementById("place").textContent = `${progress.value.toLocaleString("en")} of ${progress.max.toLocaleString("en")} turns read`;
  }

  // An act on several turns is undone as one.
  function change(changes) {
    undone.push(changes.map(([turn, stretches]) => [turn, stretchesOf(turn), stretches]));
    for (const [turn, stretches] of changes) save(turn, stretches);
  }

  // The current passages without those made from `before`; passages added since, here or in another window, stay.
  const back = (now, before, after) => [...less(now, less(after, before)), ...less(less(before, after), now)];

  function undo() {
    const last = undone.pop();
    if (!last) {
      picked.textContent = "Nothing to undo.";
      return;
    }
    for (const [turn, before, after] of last) save(turn, back(stretchesOf(turn), before, after));
    details.hide();
    spokenOf(last.at(-1)[0]).focus();
    picked.textContent = "Undone.";
  }

  // Coding

  function code(name, chosen = selecting.remember()) {
    let parts = chosen;
    const focusedTurn = turnOf(document.activeElement);
    if (!parts.length && focusedTurn && document.activeElement === spokenOf(focusedTurn)) {
      parts = [{ turn: focusedTurn, ...selecting.whole(textOf(focusedTurn), 0, textOf(focusedTurn).length) }];
    }
    parts = parts.filter((one) => one.start < one.end);
    if (!parts.length) {
      picked.textContent = "Select words first, or go to a turn with Tab.";
      return;
    }
    const placed = parts.map(({ turn, start, end }) => ({ turn, start: toPoints(textOf(turn), start), end: toPoints(textOf(turn), end) }));
    const isThere = ({ turn, start, end }) => stretchesOf(turn).some((one) => one.start === start && one.end === end && one.code === name);
    const fresh = placed.filter((one) => !isThere(one)); // What is there already stays as it is, with its memo.
    if (!fresh.length) {
      const { turn, start, end } = placed.at(-1);
      details.touch(turn, stretchesOf(turn).findIndex((one) => one.start === start && one.end === end && one.code === name));
      picked.textContent = `${codes.get(name).name} is already coded here.`;
      return;
    }
    const link = fresh.length > 1 ? crypto.getRandomValues(new Uint32Array(2)).join("-") : "";
    const stretches = fresh.map(({ start, end }) => ({ start, end, code: name, memo: "", fields: {}, link }));
    change(fresh.map(({ turn }, place) => [turn, [...stretchesOf(turn), stretches[place]]]));
    const last = parts[parts.length - 1];
    selecting.goOnAfter(last);
    picked.textContent = `Coded: ${codes.get(name).name}.`;
    const { turn } = fresh.at(-1);
    details.show(turn, stretchesOf(turn).indexOf(stretches.at(-1)));
    if (codes.get(name).asks.length) details.write("input"); // the code asks for more
    else spokenOf(last.turn).focus({ preventScroll: true });
  }

  // A passage over several turns is removed as a whole.
  function remove(turn, at) {
    const one = stretchesOf(turn)[at];
    if (!one) return;
    const links = new Set(one.link.split(" ").filter(Boolean));
    const goes = (other) => other === one || (other.code === one.code && other.link.split(" ").some((link) => links.has(link)));
    const where = all().filter((other) => stretchesOf(other).some(goes));
    change(where.map((other) => [other, stretchesOf(other).filter((stretch) => !goes(stretch))]));
    details.hide();
    picked.textContent = where.length > 1 ? `Removed from ${where.length} turns.` : "Removed.";
    spokenOf(turn).focus({ preventScroll: true });
  }

  // A refused act stays on the page as typed, until it is corrected or undone

  const inOrder = (stretches) => JSON.stringify(stretches.map((one) => [one.start, one.end, one.code, one.memo, one.link, Object.entries(one.fields).sort()]));
  const less = (stretches, others) => stretches.filter((one) => !others.some((other) => inOrder([one]) === inOrder([other])));
  let told = ""; // the refusal that was shown last

  function heard(record, said) {
    const refused = (one) => less(one.stretches, one.before || []);
    const mended = (one) => one.refused && record.stretches && one.turn === record.turn && one.at < record.at
      && less(refused(one), record.stretches).length === refused(one).length;
    for (const one of line.all().filter(mended)) line.drop(one.key);
    if (said.differs || (record.stretches && record.seen !== seen)) lookAgain();
  }

  function refusal(record, more, wayBack) {
    const why = `Not accepted: ${record.stretches ? `turn ${record.turn}, ` : ""}${record.refused}. `;
    const turn = shownTurn(record);
    if (!record.stretches || record.seen !== seen) return [why, wayBack([record])];
    if (!turn) return [why, made("a", { href: placeOf(record), text: "Show it" })];
    if (told !== record.key && !details.isWritten()) showRefused(record, turn);
    told = record.key;
    const button = (text, does) => {
      const one = made("button", { type: "button", class: "quiet", text });
      one.addEventListener("click", does);
      return one;
    };
    const mend = button("Show it", () => {
      showRefused(record, turn);
      spokenOf(turn).scrollIntoView({ block: "center" });
      details.write();
    });
    return [why, mend, " ", button("Undo", () => takeBack(record, turn))];
  }

  function showRefused({ stretches, before = stretches }, turn) {
    const one = less(stretches, before)[0];
    if (one) details.touch(turn, stretchesOf(turn).findIndex((other) => inOrder([other]) === inOrder([one])));
  }

  // The passages without the refused act, but with all later ones.
  function takeBack({ stretches, before = stretches, turn: number }, turn) {
    const now = stretchesOf(turn);
    const next = back(now, before, stretches);
    for (const one of line.all()) if (one.refused && one.turn === number) line.drop(one.key);
    undone.length = 0; // It must not come back by undoing what was done since.
    details.hide();
    if (less(next, before).length || less(before, next).length) {
      save(turn, next, before);
    } else {
      turns.keep(turn, before);
      render(turn);
      line.tell();
    }
    spokenOf(turn).focus();
    picked.textContent = "Undone.";
  }

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
    if (details.touched()?.turn === turn) details.hide();
    turns.keep(turn, [...stretches].sort(order));
    render(turn);
  }

  // Codes saved in another tab meanwhile are not overwritten by the state of this one.
  async function lookAgain() {
    if (line.all().length || details.isWritten()) return;
    try {
      const other = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
      if (line.all().length || details.isWritten() || Number(other.getElementById("coding").dataset.seen) !== seen) return;
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
    code, remove, undo, readTo, details,
    // Acts that this browser has not sent yet are shown again.
    goOn() {
      for (const record of line.all()) {
        const turn = shownTurn(record);
        if (turn) showAnew(turn, back(stretchesOf(turn), record.stretches, record.before || []));
      }
      line.send();
    },
  };
};
