"use strict";
// The selection on the coding page, by mouse or keyboard, as positions in the turns to code.
globalThis.codingSelection = ({ all, spokenOf, textOf, inPair, made }, picked) => {
  let caret = null; // { turn, start, end, through } in UTF-16, chosen by keyboard; through the end of a later turn
  let remembered = []; // what was selected before somebody went to the list of codes

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

  // The parts of a selection within turns to code, each with its position.
  function selection() {
    const chosen = document.getSelection();
    if (!chosen || chosen.isCollapsed || !chosen.rangeCount) return [];
    const range = chosen.getRangeAt(0);
    const found = [];
    for (const turn of all()) {
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

  function select(turn, start, end, through = null) {
    caret = { turn, start, end, through };
    const [first, low] = nodeAt(turn, start);
    const [last, high] = through ? nodeAt(through, textOf(through).length) : nodeAt(turn, end);
    document.getSelection().setBaseAndExtent(first, low, last, high);
    reveal(last, high);
    remember();
  }

  // Keeps the end of the selection visible between the question above and the codes.
  function reveal(node, offset) {
    const range = document.createRange();
    range.setStart(node, Math.max(offset - 1, 0));
    range.setEnd(node, offset);
    const { top, bottom } = range.getBoundingClientRect();
    const panel = document.getElementById("panel").getBoundingClientRect();
    const lowest = (panel.left < 40 ? panel.top : innerHeight) - 24;
    if (bottom > lowest) scrollBy(0, bottom - lowest + 40);
    else if (top < 110) scrollBy(0, top - 150);
  }

  // The keyboard continues from its own selection, else from the mouse selection in this turn.
  function startOf(turn) {
    if (caret && caret.turn === turn) return caret;
    const parts = selection();
    return parts.length === 1 && parts[0].turn === turn ? { ...parts[0], through: null } : null;
  }

  const same = (one, other) => one.turn === other.turn && one.start === other.start && one.end === other.end;

  // Browsers report a selection with a delay: a message shown meanwhile stays.
  function remember() {
    const before = remembered;
    remembered = selection();
    if (remembered.length !== before.length || !remembered.every((one, at) => same(one, before[at]))) tellPicked();
    return remembered;
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
    const now = startOf(turn);
    if (grow && now?.through) {
      sentencewise(turn, step);
      return;
    }
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
    const now = startOf(turn) || { start: sentences[0].start, end: sentences[0].start, through: null };
    const after = all().slice(all().indexOf(turn) + 1);
    const reached = after.indexOf(now.through);
    const atEnd = now.end >= sentences.at(-1).end;
    if (reached >= 0 || (step > 0 && atEnd)) {
      const next = Math.min(reached + step, after.length - 1);
      select(turn, now.start, textOf(turn).length, next >= 0 ? after[next] : null); // a later turn more or less
      return;
    }
    const at = sentences.findLastIndex((one) => one.start < now.end);
    const full = at >= 0 && sentences[at].end <= now.end;
    const next = step > 0 ? (full ? at + 1 : at) : at - 1;
    const end = sentences[Math.max(Math.min(next, sentences.length - 1), 0)].end;
    if (end > now.start) select(turn, now.start, end);
  }

  return {
    select, remember, whole, wordwise, sentencewise,
    remembered: () => remembered,
    leaveCaret() { caret = null; },
    clear() {
      document.getSelection().removeAllRanges();
      caret = null;
    },
    goOnAfter({ turn, start, end }) {
      document.getSelection().removeAllRanges();
      remembered = [];
      if (caret) caret = { turn, start, end, through: null };
    },
  };
};
