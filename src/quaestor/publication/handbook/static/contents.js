// A filter over the contents; without this script all are shown.
"use strict";
(() => {
  const filter = document.querySelector(".filter");
  const input = filter.querySelector("input");
  const status = filter.querySelector("[role=status]");
  const letters = [...document.querySelectorAll(".letter")].map((section) => ({
    section,
    rows: [...section.querySelectorAll("li")].map((row) => ({ row, text: row.textContent.toLowerCase() })),
  }));

  const narrow = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { section, rows } of letters) {
      let here = 0;
      for (const { row, text } of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        here += row.hidden ? 0 : 1;
      }
      section.hidden = here === 0;
      shown += here;
    }
    status.textContent = words.length ? `${shown.toLocaleString("en")} shown` : "";
  };

  filter.hidden = false;
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", narrow);
  narrow();
})();
