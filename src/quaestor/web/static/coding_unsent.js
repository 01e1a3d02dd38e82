"use strict";
// A round that closed while somebody had no line: what they coded waits in their browser, and they should know.
(() => {
  const { rater, opened, give } = document.getElementById("coding").dataset;
  const store = `quaestor/${location.host}${give}/${opened}/${rater}/`;
  const count = Object.keys(localStorage).filter((name) => name.startsWith(store)).length;
  const told = document.getElementById("unsent");
  told.hidden = !count;
  told.querySelector(".count").textContent = count === 1 ? "one change" : `${count} changes`;
})();
