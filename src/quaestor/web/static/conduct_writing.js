"use strict";
// Writing at the interviewer's desk: notes, edits, and other items that were
// referred to. Unsaved text is kept as the draft of its stop, so that nothing typed is lost.
globalThis.conductWriting = ({ desk, form, drafts, shown, put, here, say }) => {
  const { at, placeOf, show } = shown;
  const note = document.getElementById("note");
  const { amends, follow_up: follows } = form.elements;
  const tooLong = document.getElementById("too-long");
  const longest = Number(note.dataset.longest);
  const otherAt = (number) => at(number).querySelector(".add input");

  // Drafts

  function draftOf(number) {
    try {
      return JSON.parse(sessionStorage.getItem(drafts + number) || localStorage.getItem(drafts + number)) || {};
    } catch {
      return {};
    }
  }

  // Each window also keeps its own draft: two windows at one desk write two notes.
  function keep(number, draft) {
    try {
      for (const place of [sessionStorage, localStorage]) {
        if (draft.text || draft.amends || draft.other) place.setItem(drafts + number, JSON.stringify(draft));
        else place.removeItem(drafts + number);
      }
      return true;
    } catch {
      return false; // The browser keeps nothing: what is typed is in the field.
    }
  }

  const keepTyped = () => keep(here(), {
    text: note.value, amends: amends.value, followUp: follows.checked, other: otherAt(here())?.value || "",
  });

  function restore() {
    const { text, amends: key, followUp, other } = draftOf(here());
    const item = key && desk.querySelector(`.notes[data-stop="${here()}"] .note[data-key="${CSS.escape(key)}"]`);
    if (text || item) fill(item ? key : "", text, followUp);
    if (other && otherAt(here())) otherAt(here()).value = other;
  }

  // Whether refused text is back in its field, where it can be corrected.
  function keepRefused(record) {
    const words = record.text || record.other;
    if (!words) return true;
    const number = placeOf(record);
    const draft = draftOf(number);
    return keep(number, { ...draft, text: [draft.text, words].filter(Boolean).join("\n") });
  }

  // Saving

  const target = () => {
    const { question, section } = at(here()).dataset;
    return { question, section: question ? "" : section };
  };

  function save(mayTakeBack = true) {
    const text = note.value.trim();
    const key = amends.value;
    if ([...text].length > longest) {
      tooLong.hidden = false; // Nothing of it is cut off: it stays the draft of its stop.
      return keepTyped();
    }
    const item = key && desk.querySelector(`.note[data-key="${CSS.escape(key)}"]`);
    const changed = !item || item.querySelector(".text").textContent !== text;
    if (changed && (text || (item && mayTakeBack))) {
      const follow = key ? item?.classList.contains("follow-up") || false : follows.checked;
      show(say({ act: "note", ...target(), text, follow_up: follow, ...(key ? { amends: key } : {}) }), true);
    }
    fill("", "");
    return keepTyped();
  }

  function fill(key, text, followUp = false) {
    tooLong.hidden = true;
    amends.value = key;
    note.value = text;
    follows.checked = followUp;
    follows.closest("p").hidden = Boolean(key);
    put(form.querySelector("label .words"), key ? "Edit your note (empty deletes it)" : "Note");
  }

  function amend(item) {
    if (amends.value !== item.dataset.key) {
      save(false); // What was typed is a note of its own.
      fill(item.dataset.key, item.querySelector(".text").textContent);
    }
    note.focus();
  }

  function addOther() {
    const field = otherAt(here());
    const other = field ? field.value.split(/\s+/).filter(Boolean).join(" ") : "";
    if (!other) return;
    const told = { act: "tick", question: at(here()).dataset.question, item: "", other, on: true };
    say(told);
    show(told);
    field.value = "";
    keepTyped();
  }

  document.getElementById("note-keys").hidden = false;
  form.addEventListener("input", keepTyped);
  desk.addEventListener("input", (event) => { if (event.target.matches(".add input")) keepTyped(); });

  return {
    note, restore, keepRefused, save, amend, addOther,
    // A draft belongs to its stop.
    leave() {
      addOther();
      save(false);
      fill("", "");
    },
    begin(follow) {
      if (!amends.value && (follow || !note.value)) follows.checked = follow; // Half a follow-up question stays one.
      note.focus();
    },
  };
};
