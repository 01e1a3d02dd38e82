"use strict";
// Shows notes, ticks and marks of all interviewers on the desk, and the guide that
// counts them.
globalThis.conductShown = ({ desk, guide, clock, here }) => {
  const { rater } = desk.dataset;
  const { put, words, now, elapsed } = clock;
  const news = document.getElementById("news");
  const stops = [...desk.querySelectorAll(".stop")];

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
      item.querySelector("time").textContent = clock.status() === "ended" ? "afterwards" : words(told.number ? told.at : Math.max(elapsed() - (now() - told.when), 0));
      item.querySelector(".by").textContent = told.by || rater;
      const amend = item.querySelector(".amend");
      amend.hidden = Boolean(told.by) && told.by !== rater;
      amend.href = `${location.pathname}?stop=${number}&amend=${encodeURIComponent(root)}`;
      item.dataset.when = told.wall || new Date(told.when * 1000).toISOString();
      const later = [...listOf(number).children].find((one) => Date.parse(one.dataset.when) > Date.parse(item.dataset.when));
      listOf(number).insertBefore(item, later || null); // In the order of the talk, whenever it came in.
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
    if (number === here()) showSkip();
  }

  function showSkip() {
    const skip = document.getElementById("skip");
    const skipped = at(here()).dataset.state === "skipped";
    skip.hidden = !at(here()).dataset.question;
    skip.value = skipped ? "ask" : "skip";
    put(skip.querySelector(".words"), skipped ? "Ask it after all" : "Skip");
  }

  function show(told, waits = false) {
    if (told.act === "note") showNote(told, waits);
    else if (told.act === "tick") showTick(told);
    else if (told.act === "mark") showMark(told);
  }

  return { stops, at, listOf, linkOf, placeOf, recount, showSkip, show };
};
