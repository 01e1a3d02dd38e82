"use strict";
// The turns of the coding page: their text, passages, and drawing. Positions are
// counted in characters of the shown text, whereas a browser counts UTF-16 units.
globalThis.codingTurns = (page, codes) => {
  const LANES = 5;

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

  const all = () => [...page.querySelectorAll(".turn.own")];
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

  const isRead = (turn) => turn.classList.contains("read");
  function setRead(turn) {
    turn.classList.add("read");
    turn.querySelector(".state").textContent = "read";
  }

  // Drawing

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
    turn.querySelector(".margin").replaceChildren(...stretches.map((one, at) => chip(one, at, lanes[at], text.slice(...placed[at]))));
    setRead(turn);
    draw(turn);
  }

  function chip(one, at, lane, words) {
    const named = codes.get(one.code)?.name || one.code;
    const button = made("button", { type: "button", class: "chip" });
    if (one.code) button.append(named);
    else button.append(made("q", { dir: "auto", text: words }), " ", made("span", { class: "small", text: "in vivo" }));
    const told = [...Object.entries(one.fields || {}).map(([name, value]) => `${name}: ${value}`), ...(one.memo ? [one.memo] : [])];
    const more = told.length ? [made("span", { class: "more" }, ...told.map((text) => made("span", { text })))] : [];
    const remove = made("button", { type: "button", class: "quiet remove", "aria-label": `Remove ${one.code ? named : "the words in vivo"}`, text: "×" });
    return made("li", { class: `lane-${Math.min(lane, LANES - 1)}`, "data-mark": at }, button, ...more, remove);
  }

  // Bars next to the lines that a passage covers; drawn only for visible turns.

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

  return {
    all, turnOf, spokenOf, textOf, stretchesOf, isRead, setRead, made, render, point, toPoints, toUnits, inPair,
    keep: (turn, stretches) => known.set(turn, stretches),
    toldBy: (told) => all().map((turn) => [turn, toldIn(told, turn)]),
    watch() {
      for (const turn of all()) inSight.observe(turn);
      window.addEventListener("resize", () => { for (const turn of all()) if (turn.querySelector(".bars")) draw(turn); });
    },
  };
};
