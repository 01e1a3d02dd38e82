"use strict";
// Details of one passage of the coding page: its memo and the fields of its code.
globalThis.codingDetails = ({ page, turns, codes, picked, change, remove }) => {
  const { textOf, stretchesOf, made, point, toUnits } = turns;
  const longest = { memo: Number(page.dataset.longestMemo), field: Number(page.dataset.longestField) };
  const details = document.getElementById("details");
  let touched = null; // { turn, at }: the stretch that memo, fields and removal are about

  function show(turn, at) {
    touched = turn && stretchesOf(turn)[at] ? { turn, at } : null;
    details.hidden = !touched;
    if (!touched) {
      details.replaceChildren();
      return;
    }
    const one = stretchesOf(turn)[at];
    const text = textOf(turn);
    const words = [...text.slice(toUnits(text, one.start), toUnits(text, one.end))];
    const entry = codes.get(one.code) || { name: one.code, asks: [] };
    const field = (label, value, name, long) => {
      const maxlength = long ? longest.memo : longest.field;
      const input = made(long ? "textarea" : "input", { name, ...(long ? { rows: 2 } : { type: "text" }), autocomplete: "off", maxlength });
      input.value = value;
      return made("label", { class: "wide" }, made("span", { text: label }), input);
    };
    details.replaceChildren(
      made("h2", { text: one.code ? entry.name : "in vivo" }),
      made("p", { class: "small" }, made("q", { dir: "auto", text: words.length > 90 ? `${words.slice(0, 90).join("")} …` : words.join("") })),
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
    change([[touched.turn, stretches.map((other) => (other === one ? next : other))]]);
  });
  details.addEventListener("input", ({ target }) => {
    if (target.maxLength > 0 && target.value.length >= target.maxLength) picked.textContent = `At most ${target.maxLength.toLocaleString("en")} characters fit here.`;
  });
  details.addEventListener("click", (event) => {
    if (event.target.dataset.remove) remove(touched.turn, touched.at);
  });
  const isWritten = () => details.contains(document.activeElement) && document.activeElement.matches("textarea, input");
  window.addEventListener("pagehide", () => { if (isWritten()) document.activeElement.blur(); }); // Half a memo is kept too.

  return {
    show, isWritten,
    hide: () => show(null),
    touched: () => touched,
    touch(turn, at) {
      show(turn, at);
      point(turn, at, true);
    },
    // The page stays where it is; the panel shows what is written.
    write(asked = "textarea") {
      const field = details.querySelector(asked);
      if (!field) return;
      details.parentElement.scrollTop = 0;
      field.focus({ preventScroll: true });
    },
  };
};
