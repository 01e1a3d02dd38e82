"use strict";
// The rating desk by keyboard. A rating goes into the browser's own queue first, then to the server, again and again
// with the same key until it is acknowledged; the next sheets are fetched ahead, so a cut line stops nobody.
(() => {
  const desk = document.getElementById("desk");
  const saved = document.getElementById("saved");
  if (!desk) return;
  const { round, rater, opened, give, ahead: aheadAddress, rate } = desk.dataset;
  let { csrf } = desk.dataset;
  // Another study at the same address has a round of the same name that was opened at another moment.
  const store = `quaestor/${location.host}${give}/${opened}/${rater}/`;
  const pauses = [1000, 2000, 5000, 10000];
  const past = [];
  // A few at a time, well before they are needed: twenty raters never wait for each other's sheets.
  const FULL = 20;
  const FEW = 15;
  let ahead = [];
  let fetching = false;
  let sending = false;
  let failures = 0;
  let trouble = "";
  let seen = 0;
  let since = performance.now();

  // One entry for each rating: two tabs that write at once cannot undo each other.
  const queue = {
    here: new Map(),
    all() {
      const found = new Map(this.here);
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
    },
    add(record) {
      try {
        localStorage.setItem(store + record.key, JSON.stringify(record));
      } catch {
        this.here.set(record.key, record); // The browser keeps nothing: the tab does.
      }
    },
    drop(key) {
      this.here.delete(key);
      localStorage.removeItem(store + key);
    },
    refuse(record, why) {
      this.add({ ...record, refused: why });
    },
  };

  const form = () => desk.querySelector("form.sheet");
  const facets = () => [...desk.querySelectorAll(".facet")];
  const answered = (facet) => facet.querySelector(".codes input:checked, .phrase input:not(:placeholder-shown)");

  function tell() {
    const waiting = queue.all().filter((one) => !one.refused);
    const refused = queue.all().filter((one) => one.refused);
    saved.className = "saved";
    if (refused.length) {
      saved.classList.add("refused");
      saved.textContent = `Not accepted: ${refused[0].item}, ${refused[0].refused}`;
      const again = document.createElement("a");
      again.href = `${rate}?item=${encodeURIComponent(refused[0].item)}`;
      again.textContent = " Rate it again";
      saved.append(again, waiting.length + refused.length > 1 ? `; ${waiting.length + refused.length - 1} more not saved` : "");
    } else if (waiting.length) {
      saved.classList.add("waiting");
      const why = trouble || (failures ? "no connection, trying again" : "");
      const where = queue.here.size ? "; keep this tab open" : "";
      saved.textContent = `${waiting.length} not yet saved${why ? `: ${why}` : " …"}${where}`;
    } else {
      saved.textContent = "All saved";
    }
  }

  async function send() {
    if (sending) return;
    sending = true;
    try {
      for (;;) {
        const record = queue.all().find((one) => !one.refused);
        tell();
        if (!record) return;
        let answer;
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
          queue.drop(record.key);
          for (const one of queue.all()) if (one.refused && one.item === record.item) queue.drop(one.key);
        } else if (answer && [400, 413, 422].includes(answer.status)) {
          const said = await answer.json().catch(() => ({}));
          queue.refuse(record, said.refused || "the server does not understand it");
        } else {
          trouble = await askedWhy(answer);
          failures += 1;
          setTimeout(() => { sending = false; send(); }, pauses[Math.min(failures, pauses.length) - 1]);
          tell();
          return;
        }
      }
    } finally {
      if (!queue.all().some((one) => !one.refused)) sending = false;
    }
  }

  // Whoever signs in again gets a new token; whoever else signs in must not send what is not theirs.
  async function askedWhy(answer) {
    if (answer && answer.status === 503) return "the desk cannot save at this moment, trying again";
    if (!answer || ![401, 403, 409].includes(answer.status)) return "";
    try {
      const page = new DOMParser().parseFromString(await (await fetch(rate)).text(), "text/html");
      const other = page.getElementById("desk");
      if (other && other.dataset.rater === rater) {
        csrf = other.dataset.csrf;
        return "";
      }
      const who = page.querySelector(".who");
      if (who && !who.textContent.includes(rater)) return `somebody else is signed in in this browser, sign in as ${rater}`;
    } catch {
      return "";
    }
    return "you are signed out, sign in again in another tab";
  }

  async function fetchAhead() {
    if (fetching) return;
    fetching = true;
    try {
      const last = ahead.length ? ahead[ahead.length - 1].item : form().dataset.item;
      const address = new URL(aheadAddress, location.href);
      address.searchParams.set("after", last);
      address.searchParams.set("most", FULL - ahead.length);
      const answer = await fetch(address);
      if (answer.ok) {
        const known = new Set([...ahead.map((one) => one.item), form().dataset.item, ...queue.all().map((one) => one.item)]);
        const { sheets, rater: whose } = await answer.json();
        if (whose !== rater) return;
        ahead.push(...sheets.filter((one) => !known.has(one.item)));
      }
    } catch {
      // Without a line the sheets at hand have to do.
    } finally {
      fetching = false;
    }
  }

  function collect() {
    const data = new FormData(form());
    const answers = {};
    for (const facet of facets()) {
      const name = facet.dataset.facet;
      const values = data.getAll(`answer.${name}`).filter(Boolean);
      if (values.length) answers[name] = values.length > 1 ? values : values[0];
      const verb = data.get(`verb.${name}`);
      const thing = data.get(`object.${name}`);
      if ((verb || thing) && !values.length) answers[name] = { verb, object: thing };
      const instead = data.get(`instead.${name}`);
      if (instead && answers[name] === "no") answers[name] = `no: ${instead}`;
    }
    return {
      key: data.get("key"), item: data.get("item"), answers, unsure: data.getAll("unsure"), memo: data.get("memo") || "",
      seconds: Math.min(seconds(), 3600), round, rater, opened, at: Date.now() + performance.now() / 1e6,
    };
  }

  const seconds = () => Math.round((seen + (document.hidden ? 0 : performance.now() - since)) / 100) / 10;

  function missing(record) {
    return facets().find((facet) => facet.dataset.required && record.answers[facet.dataset.facet] === undefined);
  }

  function save(event) {
    if (form().querySelector("input[name=practice]")) return;
    event.preventDefault();
    const record = collect();
    const open = missing(record);
    if (open) {
      activate(open);
      open.querySelector("input, textarea").focus();
      saved.className = "saved waiting";
      saved.textContent = `${open.querySelector("legend").textContent.trim()}: choose an answer, or 0 if you cannot judge`;
      return;
    }
    queue.add(record);
    remember();
    send();
    next();
  }

  function next() {
    const following = ahead.shift();
    if (!following) {
      if (navigator.onLine && !queue.all().length) location.assign(rate);
      else waitForLine();
      return;
    }
    if (following.nodes) place(following.nodes);
    else show(following.html);
    if (ahead.length < FEW) fetchAhead();
  }

  // The sheets of this tab can be turned back without a line; rated anew, one of them is a new rating.
  function remember() {
    past.push({ item: form().dataset.item, nodes: [...desk.childNodes] });
    if (past.length > 50) past.shift();
  }

  function turnBack() {
    const last = past.pop();
    if (!last) return false;
    ahead.unshift({ item: form().dataset.item, nodes: [...desk.childNodes] });
    place(last.nodes);
    form().querySelector("input[name=key]").value = newKey();
    return true;
  }

  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");

  function waitForLine() {
    const article = desk.querySelector(".item");
    article.replaceChildren(Object.assign(document.createElement("p"), {
      className: "lead", textContent: "One moment: what you rated is being saved before the next items come.",
    }));
    const timer = setInterval(() => {
      if (!queue.all().some((one) => !one.refused)) {
        clearInterval(timer);
        location.assign(rate);
      }
    }, 500);
  }

  function show(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    place([...parsed.body.childNodes]);
    const done = desk.querySelector("progress");
    const waiting = queue.all().length;
    if (done) {
      done.value += waiting;
      desk.querySelector(".place").textContent = `${done.value.toLocaleString("en")} of ${done.max.toLocaleString("en")}`;
    }
  }

  function place(nodes) {
    desk.replaceChildren(...nodes);
    begin();
    window.scrollTo(0, 0);
    desk.querySelector("h1").focus();
  }

  function activate(facet) {
    for (const one of facets()) one.classList.toggle("active", one === facet);
  }

  const active = () => desk.querySelector(".facet.active") || facets()[0];

  function choose(key) {
    const facet = active();
    const input = [...facet.querySelectorAll("input[data-key]")].find((one) => one.dataset.key === key);
    if (!input) return false;
    input.checked = input.type === "checkbox" ? !input.checked : true;
    if (input.type === "radio") {
      for (const other of facet.querySelectorAll("input[type=checkbox][data-key]")) other.checked = false;
      const following = facets()[facets().indexOf(facet) + 1];
      if (following) activate(following);
    } else {
      for (const other of facet.querySelectorAll("input[type=radio]")) other.checked = false;
    }
    input.closest("li").scrollIntoView({ block: "nearest" });
    return true;
  }

  function findCode(event) {
    const words = event.target.value.trim().toLowerCase();
    for (const row of event.target.closest(".facet").querySelectorAll(".codes li")) {
      row.hidden = Boolean(words) && !row.textContent.toLowerCase().includes(words);
    }
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.matches("textarea, input[type=text], input[type=search]");
    if (event.key === "Escape" && typing) {
      event.target.blur();
      return;
    }
    if (event.target.matches(".type-ahead") && event.key === "Enter") {
      event.preventDefault();
      const first = [...active().querySelectorAll(".codes li:not([hidden]) input")][0];
      if (first) first.checked = true;
      event.target.blur();
      return;
    }
    if (typing) return;
    if (event.key === "Enter" && !event.target.matches("a, button, summary")) {
      event.preventDefault();
      form().requestSubmit();
      return;
    }
    if (choose(event.key)) event.preventDefault();
    else if (event.key === "u") {
      const box = active().querySelector("input[name=unsure]");
      box.checked = !box.checked;
    } else if (event.key === "m") {
      event.preventDefault();
      const memo = desk.querySelector(".memo");
      memo.open = true;
      memo.querySelector("textarea").focus();
    } else if (event.key === "/") {
      const search = active().querySelector(".type-ahead");
      if (search) {
        event.preventDefault();
        search.focus();
      }
    } else if (event.key === "z") {
      turnBack();
    } else if (event.key === "b") {
      if (!turnBack()) follow("back");
    } else if (event.key === "s") {
      if (desk.querySelector("[data-move=skip]")) skip();
    }
  }

  function follow(move) {
    const link = desk.querySelector(`[data-move=${move}]`);
    if (link) link.click();
  }

  function skip() {
    if (!ahead.length || form().querySelector("input[name=practice]")) {
      follow("skip");
      return;
    }
    remember();
    next();
  }

  function begin() {
    seen = 0;
    since = performance.now();
    activate(facets().find((facet) => !answered(facet)) || facets()[0]);
    form().onsubmit = save;
    for (const facet of facets()) facet.addEventListener("focusin", () => activate(facet));
    for (const search of desk.querySelectorAll(".type-ahead")) search.addEventListener("input", findCode);
    for (const box of desk.querySelectorAll(".phrase input")) box.placeholder = " ";
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) seen += performance.now() - since;
    since = performance.now();
  });
  document.addEventListener("keydown", pressed);
  window.addEventListener("online", () => { sending = false; send(); });
  begin();
  fetchAhead();
  send();
})();
