// Around a requester's page: follows what it says, and counts the time down. Without this
// script the links below the frame do the same.
(function () {
  "use strict";

  const SOON_SECONDS = 120;
  const frame = document.getElementById("task");
  const left = document.getElementById("left");
  const LOWEST = 240;
  const HIGHEST = 6000;

  // Whatever the frame says, no more than this can come of it.
  if (frame) {
    window.addEventListener("message", (event) => {
      if (event.source !== frame.contentWindow || !event.data) return;
      if (event.data.genie === "sent" && frame.dataset.turn) location.reload();
      if (event.data.genie === "height" && frame.dataset.fit) {
        const height = Number(event.data.height);
        if (height > 0) frame.height = Math.min(Math.max(height + 8, LOWEST), HIGHEST);
      }
    });
  }

  if (left && left.dataset.seconds) {
    const end = Date.now() + Number(left.dataset.seconds) * 1000;
    const show = () => {
      const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
      const hours = Math.floor(seconds / 3600);
      const minutes = Math.floor((seconds % 3600) / 60);
      const two = (n) => String(n).padStart(2, "0");
      left.textContent = (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(seconds % 60) + " left";
      left.classList.toggle("soon", seconds <= SOON_SECONDS);
    };
    show();
    setInterval(show, 1000);
  }
})();
