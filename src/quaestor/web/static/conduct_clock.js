"use strict";
// The clock of an interview, by the server's time and not this machine's.
globalThis.conductClock = (desk, guide) => {
  const { rater } = desk.dataset;
  let clock = JSON.parse(desk.dataset.clock);
  let skew = Date.now() / 1000 - clock.now;

  const now = () => Date.now() / 1000 - skew;
  const goes = () => (clock.runs ? Math.max(now() - clock.now, 0) : 0);
  const elapsed = () => clock.elapsed + goes();
  const spent = (section) => (clock.spent[section] || 0) + (section === clock.section ? goes() : 0);
  const leads = () => ["running", "paused"].includes(clock.status) && clock.by === rater;

  function words(seconds) {
    const whole = Math.floor(seconds);
    const two = (value) => String(value).padStart(2, "0");
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, two(whole % 60)];
    return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
  }

  function put(place, text) {
    if (place && place.textContent !== text) place.textContent = text;
  }

  function showTime(box, used, planned) {
    put(box.querySelector(".time"), words(used));
    const over = box.querySelector(".over");
    over.hidden = used <= planned;
    put(over, `${words(Math.max(used - planned, 0))} over`);
    box.classList.toggle("late", used > planned);
    box.querySelector(".fill").setAttribute("width", Math.min(planned ? (1000 * used) / planned : 0, 1000).toFixed(1));
  }

  function showClock() {
    showTime(document.getElementById("clock-all"), elapsed(), Number(desk.dataset.minutes) * 60);
    const parts = [...guide.querySelectorAll("section")];
    const running = parts.find((one) => one.dataset.section === clock.section) || parts[0];
    const own = document.getElementById("clock-section");
    put(own.querySelector(".name"), running.dataset.title);
    put(own.querySelector(".minutes"), String(Number(running.dataset.minutes)));
    showTime(own, spent(running.dataset.section), Number(running.dataset.minutes) * 60);
    for (const one of parts) {
      one.classList.toggle("now", one === running && clock.status !== "planned");
      showTime(one, spent(one.dataset.section), Number(one.dataset.minutes) * 60);
    }
  }

  function showStatus() {
    const { status } = clock;
    desk.className = `conduct ${status}`;
    put(document.getElementById("state"), { planned: "Not started", running: "Running", paused: "Paused", ended: "Ended" }[status]);
    const turn = document.getElementById("turn");
    turn.value = { planned: "start", running: "pause", paused: "go on", ended: "go on" }[status];
    turn.classList.toggle("quiet", ["running", "ended"].includes(status));
    turn.querySelector("kbd").hidden = status === "ended";
    put(turn.querySelector(".words"), { planned: "Start", running: "Pause", paused: "Resume", ended: "Resume" }[status]);
    document.getElementById("ending").hidden = ["planned", "ended"].includes(status);
    document.getElementById("to-protocol").hidden = status !== "ended";
    if (status !== "planned") document.getElementById("unstarted").hidden = true;
    const over = document.getElementById("take-over");
    over.hidden = !["running", "paused"].includes(status) || leads();
    put(over.querySelector(".by"), clock.by);
    put(over.querySelector(".name"), guide.querySelector(`section[data-section="${clock.section}"]`)?.dataset.title || "");
    showClock();
  }

  return {
    now, elapsed, leads, words, put, showClock, showStatus,
    status: () => clock.status,
    section: () => clock.section,
    turn(what, section) {
      clock = { ...clock, spent: { ...clock.spent, [clock.section]: spent(clock.section) }, elapsed: elapsed(), now: now() };
      const status = { start: "running", "go on": "running", pause: "paused", end: "ended" }[what] || clock.status;
      const mine = ["start", "section"].includes(what) ? { by: rater, section } : {};
      clock = { ...clock, ...mine, status, runs: status === "running" };
      showStatus();
    },
    take(told) {
      skew = Date.now() / 1000 - told.now;
      clock = told;
      showStatus();
    },
  };
};
