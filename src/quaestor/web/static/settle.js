"use strict";
// A case by keyboard: digits choose, Enter settles, j and k move on and back. All of it works without scripts.
(() => {
  const form = document.querySelector("form.settle");
  document.documentElement.classList.add("has-script");
  const other = document.getElementById("other");
  const boxes = [...document.querySelectorAll(".boxes input")];
  const byPassage = document.querySelector(".by-passage input[name=answer]");

  // One answer at a time: choosing a disputed answer clears the other field, and vice versa.
  const clearOthers = () => {
    if (other) other.value = "";
    for (const box of boxes) box.checked = false;
  };
  const clearPassages = () => {
    for (const radio of form.querySelectorAll("input[name^='row.']")) radio.checked = "default" in radio.dataset;
  };
  const clearOpinions = () => {
    for (const radio of form.querySelectorAll("input[name=answer]")) radio.checked = false;
    clearPassages();
  };
  // A choice for one passage decides passage by passage; a new code or new words choose "another" of that passage.
  const choosePassage = (field) => {
    const [name, number] = field.name.split(".");
    if (name !== "row") form.querySelector(`input[name="row.${number}"][value=other]`).checked = true;
    byPassage.checked = true;
    clearOthers();
  };
  if (form) {
    form.addEventListener("change", (event) => {
      const field = event.target;
      if (field.name === "answer") {
        clearOthers();
        if (field !== byPassage) clearPassages();
      }
      if (field.name === "other" && (field.value || field.checked)) clearOpinions();
      if (byPassage && /^(row|code|words)\.\d+$/.test(field.name)) choosePassage(field);
    });
  }

  function choose(key) {
    const found = form && [...form.querySelectorAll("input[data-key]")].find((one) => one.dataset.key === key);
    if (!found) return false;
    const folded = form.querySelector("details.change-decision");
    if (folded) folded.open = true;
    found.checked = true;
    clearOthers();
    if (found !== byPassage) clearPassages();
    found.focus();
    return true;
  }

  function goTo(id) {
    const found = document.getElementById(id);
    if (!found) return false;
    found.focus();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.isComposing) return;
    const writing = event.target.matches("textarea, select, input[type=text]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form) {
      event.preventDefault();
      event.target.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape" && writing) {
      event.target.blur();
      return;
    }
    if (writing) return;
    if (event.key === "Enter") {
      const chosen = form && (form.querySelector("input[name=answer]:checked, .boxes input:checked") || (other && other.value));
      if (event.target.matches("a, button, summary") || !chosen) return;
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    const moves = { j: "next", n: "next", k: "back", p: "back" };
    const places = { o: "other", r: form && document.getElementById("reason") ? "reason" : "text", c: "text" };
    if (moves[event.key]) {
      const link = document.querySelector(`[data-move=${moves[event.key]}]`);
      if (link) link.click();
    } else if (choose(event.key) || (places[event.key] && goTo(places[event.key]))) {
      event.preventDefault();
    }
  });

  // Focus moves to the title of the next case, also for screen readers.
  const title = document.querySelector(".item h1");
  if (title && !location.hash) title.focus({ preventScroll: true });
})();
