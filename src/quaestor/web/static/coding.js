"use strict";
// The coding page by mouse and keyboard: list of codes, keys, and highlighting.
(() => {
  const page = document.getElementById("coding");
  if (!page) return;
  const panel = document.getElementById("panel");
  const picked = document.getElementById("picked");
  const find = document.getElementById("find");
  const codes = new Map();
  for (const button of panel.querySelectorAll(".code")) {
    codes.set(button.dataset.code, { name: button.dataset.name || "in vivo", asks: JSON.parse(button.dataset.asks || "[]") });
  }
  const turns = globalThis.codingTurns(page, codes);
  const { all, turnOf, spokenOf, textOf, isRead, point } = turns;
  const selecting = globalThis.codingSelection(turns, picked);
  const { select, wordwise, sentencewise } = selecting;
  const acts = globalThis.codingActs({ page, turns, selecting, codes, picked });
  const { code, remove, details } = acts;

  // The list of codes

  function shown() {
    return [...panel.querySelectorAll(".code:not([hidden])")];
  }
  const sought = () => find.value.trim().toLowerCase();
  const nameOf = (button) => (button.dataset.name || button.querySelector(".name").textContent).toLowerCase();

  // Rank of a code in a search: whole name, prefix, part of the name, definition; -1 for no match.
  function fits(button) {
    const name = nameOf(button);
    const ways = [name === sought(), name.startsWith(sought()), name.includes(sought()), (button.title || "").toLowerCase().includes(sought())];
    return ways.indexOf(true);
  }
  find.addEventListener("input", () => {
    for (const button of panel.querySelectorAll(".code")) button.hidden = Boolean(sought()) && fits(button) < 0;
    document.getElementById("no-code").hidden = shown().length > 0;
  });
  let stood = null; // the turn from which somebody went to find a code
  panel.addEventListener("mousedown", (event) => {
    if (event.target.closest(".code")) event.preventDefault(); // the selection stays
  });
  panel.addEventListener("click", (event) => {
    const button = event.target.closest(".code");
    if (!button) return;
    leaveFind();
    code(button.dataset.code, selecting.remembered());
  });

  function leaveFind() {
    find.value = "";
    find.dispatchEvent(new Event("input"));
  }

  function findingKey(event) {
    if (event.key === "Escape") {
      leaveFind();
      goBack();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      shown()[0]?.focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const found = shown().filter((one) => sought() || one.dataset.code);
      const first = sought() ? found.sort((one, other) => fits(one) - fits(other))[0] : found[0];
      if (!first) return;
      leaveFind();
      const parts = selecting.remembered();
      goBack();
      code(first.dataset.code, parts);
    }
  }

  function listKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return false;
    event.preventDefault();
    const next = shown().indexOf(event.target) + step;
    (next < 0 ? find : shown()[Math.min(next, shown().length - 1)]).focus();
    return true;
  }

  function goBack() {
    const back = selecting.remembered().at(-1)?.turn || stood;
    if (back) spokenOf(back).focus({ preventScroll: true });
    else find.blur();
  }

  function toFind() {
    stood = turnOf(document.activeElement);
    find.focus();
  }

  function nextUnread() {
    const every = all();
    const at = every.indexOf(turnOf(document.activeElement));
    const next = [...every.slice(at + 1), ...every.slice(0, at + 1)].find((one) => !isRead(one));
    if (next) spokenOf(next).focus();
    else picked.textContent = "All turns on this page are read.";
  }

  function moveTo(turn, step) {
    const every = all();
    const next = every[every.indexOf(turn) + step];
    if (!next) return;
    selecting.clear();
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
        const touched = details.touched();
        if (touched) spokenOf(touched.turn).focus({ preventScroll: true });
      }
      return;
    }
    if (event.target.matches(".code") && listKey(event)) return;
    const turn = event.target.matches(".spoken") ? turnOf(event.target) : null;
    if (turn && moved(turn, event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape" && panel.contains(event.target)) {
      leaveFind();
      goBack();
      return;
    }
    if (event.key === "Escape") {
      selecting.clear();
      return;
    }
    if (event.target.matches("a, button, summary") && [" ", "Enter"].includes(event.key)) return;
    const button = [...panel.querySelectorAll(".code[data-key]")].find((one) => one.dataset.key && one.dataset.key === event.key);
    const does = {
      "/": toFind,
      Enter: toFind,
      z: acts.undo,
      n: nextUnread,
      m: () => details.write(),
      x: () => removeHere(event),
      Delete: () => removeHere(event),
      w: () => { if (turn) select(turn, 0, textOf(turn).length); },
    };
    if (button) code(button.dataset.code);
    else if (does[event.key]) does[event.key]();
    else return;
    event.preventDefault();
  }

  function removeHere(event) {
    const item = event.target.closest?.("li[data-mark]");
    const touched = details.touched();
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
    const mark = event.target.closest(".turn.own .spoken mark");
    if (mark && document.getSelection().isCollapsed) details.touch(turnOf(mark), Number(mark.dataset.mark));
    const item = event.target.closest(".margin li[data-mark]");
    if (item && event.target.closest(".remove")) {
      event.preventDefault();
      remove(turnOf(item), Number(item.dataset.mark));
    } else if (item && event.target.closest(".chip")) {
      details.touch(turnOf(item), Number(item.dataset.mark));
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
  page.addEventListener("pointerdown", selecting.leaveCaret);
  document.addEventListener("selectionchange", () => { if (!panel.contains(document.activeElement)) selecting.remember(); });

  page.querySelector(".to-the-end").addEventListener("submit", (event) => {
    const range = event.submitter?.value;
    if (!range) return;
    event.preventDefault();
    const [first, last] = range.split("-").map(Number);
    acts.readTo(first, last);
    const next = document.querySelector(".pager a[rel=next]");
    const { list, following, followingAt } = page.dataset;
    const link = (href, text, kind = "button") => turns.made("a", { class: kind, href, text });
    event.target.querySelector(".actions").replaceChildren(...(next && last < 999999
      ? [link(next.href, "Next page")]
      : following
        ? [link(followingAt, `Next transcript: ${following}`), link(list, "Back to the transcripts", "small")]
        : [link(list, "Back to the transcripts")]));
    event.target.querySelector(".actions a").focus();
  });
  document.addEventListener("keydown", pressed);

  document.body.classList.add("scripted");
  panel.hidden = false;
  turns.watch();
  acts.goOn();
})();
