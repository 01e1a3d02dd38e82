// Search as you type: titles first, then the full text if its index can be loaded (not from file://).
"use strict";
(() => {
  const root = new URL("../", document.currentScript.src);
  const form = document.querySelector(".search");
  if (!form) return;
  const input = form.querySelector("input");
  const answer = form.querySelector(".search-answer");
  const status = form.querySelector(".search-count");
  const list = form.querySelector(".search-results");
  const SHOWN = 10;
  const SHOWN_TITLES = 4;
  // Words match by prefix, so "a" would match every word that starts with an a.
  const SMALL = new Set((
    "a an and are as at be by can do does for from how i in is it me my of on or that the this to use using want what " +
    "when where which why with"
  ).split(" "));
  let parts = null;
  let asked = 0;
  let idle = Promise.resolve();

  const weighty = (text) => {
    const words = text.toLowerCase().split(/[\s?!.,;:]+/).filter(Boolean);
    const kept = words.filter((word) => !SMALL.has(word));
    return kept.length ? kept : words;
  };

  const fullText = async () => {
    const pagefind = await import(new URL("pagefind/pagefind.js", root));
    await pagefind.options({ excerptLength: 22 });
    await pagefind.init();
    return async (words) => {
      const found = await pagefind.search(words.join(" "));
      const shown = await Promise.all(found.results.slice(0, SHOWN).map((one) => one.data()));
      const rows = shown.map((one) => ({
        address: new URL(`.${one.raw_url || one.url}`, root).href,
        title: one.meta.title,
        place: one.meta.place,
        excerpt: one.excerpt,
      }));
      return { rows, count: found.results.length };
    };
  };

  const titles = async () => {
    await new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("static/titles.js", root);
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    const all = window.handbookTitles.map((row) => ({ row, text: row[0].toLowerCase() }));
    return (words) => {
      const rated = all.map(({ row, text }) => ({ row, text, hits: words.filter((word) => text.includes(word)).length }));
      const found = rated.filter((one) => one.hits);
      const first = (one) => (one.text === words.join(" ") ? 2 : one.text.startsWith(words[0]) ? 1 : 0);
      found.sort((one, other) => other.hits - one.hits || first(other) - first(one));
      return {
        rows: found.slice(0, SHOWN).map(({ row: [title, address, place], hits }) => ({
          address: new URL(address, root).href, title, place, whole: hits === words.length,
        })),
        count: found.filter((one) => one.hits === words.length).length,
      };
    };
  };

  const load = () => {
    const alone = location.protocol === "file:";
    parts ??= { titles: titles(), text: alone ? Promise.resolve(null) : fullText().catch(() => null) };
    return parts;
  };

  // An excerpt is HTML: it is parsed without being executed, and only text and <mark> are copied.
  const copyMarked = (html, target) => {
    for (const node of new DOMParser().parseFromString(html, "text/html").body.childNodes) {
      const marked = node.nodeName === "MARK" ? document.createElement("mark") : null;
      if (marked) marked.textContent = node.textContent;
      target.append(marked ?? node.textContent);
    }
  };

  const line = (kind, text) => {
    const made = document.createElement("span");
    made.className = kind;
    made.textContent = text;
    return made;
  };

  const row = (one) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = one.address;
    link.append(line("result-title", one.title), line("result-place", one.place ?? ""));
    if (one.excerpt) {
      const excerpt = line("result-excerpt", "");
      copyMarked(one.excerpt, excerpt);
      link.append(excerpt);
    }
    item.append(link);
    return item;
  };

  const show = (text, rows) => {
    list.replaceChildren(...rows.slice(0, SHOWN).map(row));
    list.dataset.shown = text;
    answer.hidden = false;
  };

  const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

  const search = async () => {
    const text = input.value.trim();
    const number = ++asked;
    const late = () => number !== asked;
    const words = weighty(text);
    if (!words.length) {
      answer.hidden = true;
      list.replaceChildren();
      status.textContent = "";
      return;
    }
    const named = (await load().titles)(words);
    if (late()) return;
    if (named.rows.length) show(text, named.rows.slice(0, SHOWN_TITLES));
    const look = await load().text;
    // One full-text search at a time: while somebody types, only the latest query counts.
    await idle;
    if (late()) return;
    if (look) {
      const found = look(words);
      idle = found.catch(() => {});
      const { rows, count } = await found;
      if (late()) return;
      const whole = named.rows.filter((one) => one.whole).slice(0, SHOWN_TITLES);
      const known = new Map(rows.map((one) => [one.address, one]));
      const first = whole.map((one) => known.get(one.address) ?? one);
      const others = rows.filter((one) => !whole.some((other) => other.address === one.address));
      const all = [...first, ...others];
      show(text, all.length ? all : named.rows.slice(0, SHOWN_TITLES));
      const some = !all.length && named.rows.length ? "; these titles contain some of the words" : "";
      status.textContent = counted(Math.max(count, all.length), "page") + some;
    } else {
      show(text, named.rows);
      status.textContent = `${counted(named.count, "title")} (titles only: full-text search needs a web server)`;
    }
    list.dataset.text = text;
  };

  const move = (event) => {
    const links = [...list.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      input.value = "";
      search();
      input.focus();
    } else if (event.key === "ArrowDown" && links.length) {
      event.preventDefault();
      links[Math.min(place + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && place >= 0) {
      event.preventDefault();
      (links[place - 1] ?? input).focus();
    }
  };

  input.addEventListener("focus", load, { once: true });
  input.addEventListener("input", search);
  form.addEventListener("keydown", move);
  form.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !form.contains(event.relatedTarget)) answer.hidden = true;
  });
  input.addEventListener("focus", () => { answer.hidden = !input.value.trim() || !list.dataset.shown; });
  form.addEventListener("submit", (event) => {
    const first = list.querySelector("a");
    if (first && list.dataset.shown === input.value.trim()) {
      event.preventDefault();
      location.assign(first.href);
    }
  });
})();
