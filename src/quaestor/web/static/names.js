// Answer matches by keyboard; without scripts every answer is a form.
"use strict";
{
  const places = [...document.querySelectorAll(".place")];
  const told = document.querySelector(".told");
  const keys = document.querySelector(".keys");
  const far = document.querySelector(".far");
  const state = document.querySelector(".asked")?.dataset.state;
  let here = -1;

  const go = (to) => {
    if (to < 0 || to >= places.length) return;
    here = to;
    places[here].focus({ preventScroll: true });
    places[here].scrollIntoView({ block: "nearest" });
  };
  const following = () => {
    const next = places.findIndex((place, at) => at > here && !place.classList.contains("answered"));
    return next >= 0 ? next : places.findIndex((place) => !place.classList.contains("answered"));
  };
  const send = async (form) => {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" });
    if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error("refused");
  };
  const counted = (what, more) => {
    const shown = far?.querySelector(`[data-count="${what}"]`);
    if (!shown) return 0;
    const count = Math.max(0, Number(shown.textContent.replace(/\D/g, "")) + more);
    shown.textContent = count.toLocaleString("en");
    return count;
  };
  // A match that may still be another name is not answered yet.
  const moved = (place, into, by) => {
    if (places.some((one) => one.dataset.at === place.dataset.at && !one.classList.contains("answered"))) return;
    counted(into, by);
    if (state !== "open") counted(state, -by);
    else if (place.classList.contains("doubtful")) counted("doubtful", -by);
    const answers = counted("answered", state === "open" ? by : 0);
    far?.querySelector(".fill")?.setAttribute("width", Math.round(1000 * answers / far.dataset.found));
  };
  const answered = async (form, place) => {
    if (!form || place.classList.contains("answered")) return;
    const closed = form.matches(".confirm") ? places.filter((one) => one.dataset.at === place.dataset.at) : [place];
    const into = form.matches(".confirm") ? "confirmed" : "refused";
    for (const one of closed) one.classList.add("answered");
    moved(place, into, 1);
    const next = following();
    if (next >= 0) go(next);
    try {
      await send(form);
      const left = places.filter((one) => !one.classList.contains("answered")).length;
      told.textContent = left ? `${left} left on this page` : "";
      if (!left) location.reload();
    } catch {
      moved(place, into, -1);
      for (const one of closed) one.classList.remove("answered");
      told.textContent = "This answer was not saved. Reload the page.";
      go(places.indexOf(place));
    }
  };

  if (places.length && keys) {
    keys.hidden = false;
    go(places.findIndex((place) => `#${place.id}` === location.hash));
    for (const place of places) {
      place.addEventListener("focusin", () => { here = places.indexOf(place); });
      for (const form of place.querySelectorAll(".confirm, .refuse")) {
        form.addEventListener("submit", (event) => { event.preventDefault(); answered(form, place); });
      }
    }
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const place = places[here];
      const acts = {
        j: () => go(here + 1),
        k: () => go(here - 1),
        y: () => (place ? answered(place.querySelector(".confirm"), place) : go(following())),
        n: () => (place ? answered(place.querySelector(".refuse"), place) : go(following())),
        a: () => (place ? place.querySelector(".every")?.requestSubmit() : go(following())),
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    });
  }
}
