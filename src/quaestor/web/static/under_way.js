"use strict";
// Polls the page once a second and replaces only what changed, so that nothing flickers and focus is kept.
(() => {
  const page = document.getElementById("content");
  const parts = ["next-step", "doors", "survey", "interviews", "standing", "steps", "found"];

  function take(text) {
    const next = new DOMParser().parseFromString(text, "text/html");
    for (const part of parts) {
      const old = document.getElementById(part);
      const fresh = next.getElementById(part);
      if (fresh && old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
    }
    document.title = next.title;
    if (!next.getElementById("content").hasAttribute("data-going")) page.removeAttribute("data-going");
  }

  async function ask() {
    try {
      const answer = await fetch(location.pathname, { cache: "no-store" });
      if (answer.ok) take(await answer.text());
    } catch {
      document.getElementById("standing").textContent = "The demo no longer responds: it was stopped in its terminal.";
      return;
    }
    later();
  }

  function later() {
    if (page.hasAttribute("data-going")) setTimeout(ask, 1000);
  }

  // Refreshes the counts when the visitor returns from the survey.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !page.hasAttribute("data-going")) ask();
  });

  later();
})();
