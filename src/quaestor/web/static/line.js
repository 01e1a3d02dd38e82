"use strict";
// The queue of unsaved acts: stored in the browser, one entry each, and sent in order with its key until the server says
// that it is on disk. Two tabs cannot overwrite each other, and work continues offline.
globalThis.waitingLine = ({
  store, give, rater, told, again, where = () => location.href, heard = () => {}, unheard = () => {}, gone = null, refusal = null,
  words = (count) => `${count} not yet saved`, unreached = "no connection, trying again", keepsWords = () => true,
}) => {
  const pauses = [1000, 2000, 5000, 10000];
  const here = new Map();
  let { csrf } = told.dataset;
  let sending = false;
  let failures = 0;
  let trouble = "";
  let missing = ""; // why nothing comes in, where somebody listens too
  const saved = document.getElementById("saved");

  function all() {
    const found = new Map(here);
    for (let place = 0; place < localStorage.length; place += 1) {
      const name = localStorage.key(place);
      if (!name.startsWith(store)) continue;
      try {
        const record = JSON.parse(localStorage.getItem(name));
        if (record) found.set(record.key, record);
      } catch {
        // Not written by this page.
      }
    }
    return [...found.values()].sort((one, other) => one.at - other.at);
  }

  const waits = () => all().some((one) => !one.refused);

  function keep(record) {
    try {
      localStorage.setItem(store + record.key, JSON.stringify(record));
    } catch {
      here.set(record.key, record); // The browser keeps nothing: the tab does.
    }
  }

  function drop(key) {
    here.delete(key);
    localStorage.removeItem(store + key);
  }

  function tell() {
    const every = all();
    const waiting = every.filter((one) => !one.refused);
    const refused = every.filter((one) => one.refused);
    saved.className = "saved";
    if (refused.length) {
      saved.classList.add("refused");
      saved.replaceChildren(...(refusal ? refusal(refused[0], every.length - 1, wayBack) : [`Not accepted: ${refused[0].refused}. `, wayBack(refused)]));
    } else if (waiting.length) {
      saved.classList.add("waiting");
      const why = trouble || (failures ? unreached : "");
      saved.textContent = `${words(waiting.length)}${why ? `: ${why}` : " …"}${here.size ? "; keep this tab open" : ""}`;
    } else if (missing) {
      saved.classList.add("waiting");
      saved.textContent = missing;
    } else {
      saved.textContent = "All saved";
    }
  }

  function wayBack(refused) {
    const away = document.createElement("button");
    away.type = "button";
    away.className = "quiet";
    away.textContent = "Show what is saved";
    away.addEventListener("click", () => {
      const kept = refused.filter(keepsWords);
      for (const one of kept) drop(one.key); // What was written in it is elsewhere now.
      if (kept.length === refused.length) location.assign(again(refused[0]));
      else away.textContent = "No storage left in this browser: copy your text first";
    });
    return away;
  }

  async function send() {
    if (sending) return;
    sending = true;
    try {
      for (;;) {
        const record = all().find((one) => !one.refused);
        tell();
        if (!record) return;
        let answer = null;
        try {
          answer = await fetch(give, {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
            body: JSON.stringify(record),
          });
        } catch {
          answer = null;
        }
        if (answer && answer.ok) {
          failures = 0;
          trouble = "";
          drop(record.key);
          heard(record, await answer.json().catch(() => ({})));
        } else if (answer && answer.status === 410 && gone) {
          for (const one of all()) drop(one.key); // What it was about has been erased: nothing of it stays here either.
          gone();
          return;
        } else if (answer && [400, 413, 422].includes(answer.status)) {
          const said = await answer.json().catch(() => ({}));
          keep({ ...record, refused: said.refused || "the server cannot read it" });
          unheard(record);
        } else {
          trouble = await askedWhy(answer);
          failures += 1;
          setTimeout(() => { sending = false; send(); }, pauses[Math.min(failures, pauses.length) - 1]);
          tell();
          return;
        }
      }
    } finally {
      if (!waits()) sending = false;
    }
  }

  // Signing in again gives a new token; another person who signs in must not send this rater's acts.
  async function askedWhy(answer) {
    if (answer && answer.status === 503) return "the desk cannot save right now, trying again";
    if (!answer || ![401, 403, 409].includes(answer.status)) return "";
    try {
      const page = new DOMParser().parseFromString(await (await fetch(where())).text(), "text/html");
      const other = page.getElementById(told.id);
      if (other && other.dataset.rater === rater) {
        csrf = other.dataset.csrf;
        return "";
      }
      const who = page.querySelector(".who");
      if (who && !who.textContent.includes(rater)) return `someone else is signed in in this browser, sign in as ${rater}`;
    } catch {
      return "";
    }
    return "you are signed out, sign in again in another tab";
  }

  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");

  window.addEventListener("online", () => { sending = false; send(); });
  return {
    all,
    drop,
    tell,
    send,
    newKey,
    waits,
    // The poll for other people's acts reports whether an answer came; without one, nothing new is shown.
    async heardFrom(answer) {
      const known = missing;
      if (answer?.ok) missing = "";
      else if (!answer || answer.status >= 500) missing = "No connection: keep going, it is kept here";
      else missing = (await askedWhy(answer)).replace(/^./, (first) => first.toUpperCase());
      if (known !== missing) tell();
    },
    add(record) {
      const made = { key: newKey(), ...record, rater, at: Date.now() + performance.now() / 1e6 };
      keep(made);
      if (sending) tell();
      send();
      return made;
    },
  };
};
