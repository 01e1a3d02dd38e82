"use strict";
// A round that closed while the rater was offline: tells them that unsent codes are still in this browser.
(() => {
  const { rater, opened, give } = document.getElementById("coding").dataset;
  const store = `quaestor/${location.host}${give}/${opened}/${rater}/`;
  const count = Object.keys(localStorage).filter((name) => name.startsWith(store)).length;
  const told = document.getElementById("unsent");
  told.hidden = !count;
  told.querySelector(".count").textContent = count === 1 ? "one change" : `${count} changes`;
})();
