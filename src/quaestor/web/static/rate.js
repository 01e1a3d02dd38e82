"use strict";
// The rating desk by keyboard. A rating goes into the queue in line.js; the next sheets are
// prefetched, so that rating continues offline.
(() => {
  const desk = document.getElementById("desk");
  const saved = document.getElementById("saved");
  if (!desk) return;
  const { round, rater, queue, opened, give, ahead: aheadAddress, rate } = desk.dataset;
  const past = [];
  // A few at a time, well before they are needed, so that twenty raters do not wait for each other.
  const FULL = 20;
  const FEW = 15;
  let ahead = [];
  let fetching = false;
  let seen = 0;
  let since = performance.now();

  const line = globalThis.waitingLine({
    // Another study at the same address may have a round of the same name; its opening time differs.
    store: `quaestor/${location.host}${give}/${opened}/${queue}/`, give, rater, told: desk, where: () => rate,
    heard: ({ item }) => { for (const one of line.all()) if (one.refused && one.item === item) line.drop(one.key); },
    unheard: ({ item }) => { ratedHere.delete(item); showProgress(); },
    refusal: ({ item, refused }, more) => [
      `Not accepted: ${item}, ${refused}`,
      Object.assign(document.createElement("a"), { href: `${rate}?item=${encodeURIComponent(item)}`, textContent: " Rate it again" }),
      more ? `; ${more} more not saved` : "",
    ],
  });

  // The server counted what was rated before this page; what is rated here is added, saved or not.
  const doneBefore = desk.querySelector("progress").value;
  const ratedHere = new Set(line.all().filter((one) => !one.refused).map((one) => one.item));
  const spent = desk.dataset.seconds.split(" ").filter(Boolean).map(Number); // newest first
  const LATEST = 30;

  const form = () => desk.querySelector("form.sheet");
  const facets = () => [...desk.querySelectorAll(".facet:not([hidden])")];
  const answered = (facet) => facet.querySelector(".codes input:checked, .phrase input:not(:placeholder-shown)");

  // A question with a condition appears with the answer that leads to it. A hidden one sends nothing.
  function showAsked() {
    for (const facet of desk.querySelectorAll(".facet[data-ask-if]")) {
      const holds = ([name, values]) => facets().some((other) => other.dataset.facet === name
        && [...other.querySelectorAll(".codes input:checked")].some((one) => values.includes(one.value)));
      facet.hidden = facet.disabled = !JSON.parse(facet.dataset.askIf).every(holds);
    }
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
        const known = new Set([...ahead.map((one) => one.item), form().dataset.item, ...line.all().map((one) => one.item)]);
        const { sheets, rater: whose } = await answer.json();
        if (whose !== rater) return;
        ahead.push(...sheets.filter((one) => !known.has(one.item)));
      }
    } catch {
      // Offline, only the loaded sheets are available.
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
      seconds: Math.min(seconds(), 3600), round, opened, ...proposed(data),
    };
  }

  // A code that the rater proposes for this item; the rating itself has a code of the codebook.
  function proposed(data) {
    const [name, parent, definition, facet] = ["name", "parent", "definition", "facet"].map((field) => data.get(`proposed.${field}`) || "");
    return name.trim() || definition.trim() ? { proposed: { name, parent, definition, facet } } : {};
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
    line.add(record);
    if (!form().dataset.counted) ratedHere.add(record.item);
    if (record.seconds > 0) spent.unshift(record.seconds);
    remember();
    next();
  }

  function next() {
    const following = ahead.shift();
    if (!following) {
      if (navigator.onLine && !line.all().length) location.assign(rate);
      else waitForLine();
      return;
    }
    if (following.nodes) place(following.nodes);
    else show(following.html);
    if (ahead.length < FEW) fetchAhead();
  }

  // The sheets of this tab can be revisited offline; rating one again is a new rating.
  function remember() {
    past.push({ item: form().dataset.item, nodes: [...desk.childNodes] });
    if (past.length > 50) past.shift();
  }

  function turnBack() {
    const last = past.pop();
    if (!last) return false;
    ahead.unshift({ item: form().dataset.item, nodes: [...desk.childNodes] });
    place(last.nodes);
    form().querySelector("input[name=key]").value = line.newKey();
    return true;
  }

  function waitForLine() {
    const article = desk.querySelector(".item");
    article.replaceChildren(Object.assign(document.createElement("p"), {
      className: "lead", textContent: "One moment: saving your ratings before loading the next items.",
    }));
    const timer = setInterval(() => {
      if (!line.waits()) {
        clearInterval(timer);
        location.assign(rate);
      }
    }, 500);
  }

  function show(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    place([...parsed.body.childNodes]);
  }

  function showProgress() {
    const bar = desk.querySelector("progress");
    bar.value = doneBefore + ratedHere.size;
    desk.querySelector(".count").textContent = `${bar.value.toLocaleString("en")} of ${bar.max.toLocaleString("en")}`;
    desk.querySelector(".pace").textContent = describePace(bar.max - bar.value);
    desk.querySelector(".foot").append(saved);
    document.title = `${round} · ${desk.querySelector("h1").textContent}`;
  }

  function describePace(left) {
    const latest = spent.slice(0, LATEST).sort((one, other) => one - other);
    if (!latest.length || !left) return "";
    const half = latest.length / 2;
    const pace = (latest[Math.floor(half - 0.5)] + latest[Math.floor(half)]) / 2;
    const minutes = (left * pace) / 60;
    const rest = minutes >= 90 ? `${Math.round(minutes / 60)} h` : `${Math.max(1, Math.round(minutes))} min`;
    return `${Math.round(pace)} s per item, about ${rest} left`;
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

  const active = () => desk.querySelector(".facet.active:not([hidden])") || facets()[0];

  function choose(key) {
    const facet = active();
    const input = [...facet.querySelectorAll("input[data-key]")].find((one) => one.dataset.key === key);
    if (!input) return false;
    input.checked = input.type === "checkbox" ? !input.checked : true;
    if (input.type === "radio") {
      for (const other of facet.querySelectorAll("input[type=checkbox][data-key]")) other.checked = false;
      showAsked();
    } else {
      for (const other of facet.querySelectorAll("input[type=radio]")) other.checked = false;
      showAsked();
    }
    const following = input.type === "radio" && facets()[facets().indexOf(facet) + 1];
    if (following) activate(following);
    (following || input.closest("li")).scrollIntoView({ block: "nearest" });
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
    const typing = event.target.matches("textarea, select, input[type=text], input[type=search]");
    if (event.key === "Escape" && typing) {
      event.target.blur();
      return;
    }
    if (event.target.matches(".type-ahead") && event.key === "Enter") {
      event.preventDefault();
      const first = [...active().querySelectorAll(".codes li:not([hidden]) input")][0];
      if (first) first.checked = true;
      showAsked();
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
    showAsked();
    activate(facets().find((facet) => !answered(facet)) || facets()[0]);
    form().onsubmit = save;
    form().onchange = showAsked;
    for (const facet of facets()) facet.addEventListener("focusin", () => activate(facet));
    for (const search of desk.querySelectorAll(".type-ahead")) search.addEventListener("input", findCode);
    for (const box of desk.querySelectorAll(".phrase input")) box.placeholder = " ";
    showProgress();
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) seen += performance.now() - since;
    since = performance.now();
  });
  document.addEventListener("keydown", pressed);
  begin();
  fetchAhead();
  line.send();
})();
