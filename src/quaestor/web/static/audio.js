"use strict";
// Plays the recording of an interview from a turn. Without scripts the player alone is there.
(() => {
  const player = document.getElementById("recording");
  if (!player) return;
  const buttons = [...document.querySelectorAll("button[data-at]")];
  let current = null;
  const show = () => {
    for (const button of buttons) {
      const playing = button === current && !player.paused;
      button.textContent = playing ? "Pause" : "Play";
      button.setAttribute("aria-label", `${button.textContent} ${button.dataset.label}`);
      button.closest(".turn").classList.toggle("playing", playing);
    }
  };
  // The button of the turn that is heard now; one of a later turn once the recording reaches it.
  const follow = () => {
    const heard = buttons.filter((button) => Number(button.dataset.at) <= player.currentTime + 0.05);
    current = heard.length ? heard[heard.length - 1] : null;
    show();
  };
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => {
      if (button === current && !player.paused) {
        player.pause();
        return;
      }
      player.currentTime = Number(button.dataset.at);
      player.play().catch(() => show());
    });
  }
  for (const name of ["play", "pause", "timeupdate", "seeked", "ended"]) player.addEventListener(name, follow);
})();
