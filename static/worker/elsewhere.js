// A HIT in a platform's frame: where it is sent to stands in the address of the frame.
(function () {
  "use strict";

  const NOBODY = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const IDLE_SECONDS = 60;
  const form = document.getElementById("hit");
  const send = document.getElementById("send");
  const trouble = document.getElementById("trouble");
  const given = new URLSearchParams(window.location.search);
  const assignment = given.get("assignmentId") || NOBODY;
  const back = (given.get("turkSubmitTo") || "").replace(/\/+$/, "");
  const questions = Array.from(form.querySelectorAll(".question"));
  let seconds = 0;
  let lastSign = Date.now();
  let lastTick = Date.now();

  if (assignment === NOBODY || !back) {
    document.getElementById("preview").hidden = false;
  } else {
    form.elements.namedItem("assignmentId").value = assignment;
    form.action = back + "/mturk/externalSubmit";
    send.disabled = false;
  }

  function answered(question) {
    if (question.classList.contains("tick")) return true;
    const number = question.querySelector("input[type=number]");
    return number ? number.value !== "" : Boolean(question.querySelector(":checked"));
  }

  function tick() {
    const now = Date.now();
    const awake = document.visibilityState === "visible" && now - lastSign < IDLE_SECONDS * 1000;
    // A step longer than two seconds means that the machine slept.
    if (awake) seconds += Math.min((now - lastTick) / 1000, 2);
    lastTick = now;
  }

  for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"]) {
    window.addEventListener(sign, function () { lastSign = Date.now(); }, { passive: true });
  }
  window.setInterval(tick, 1000);

  const guide = document.getElementById("guide");

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[0-9?]$/.test(event.key)) return;
    if (event.target instanceof Element && event.target.matches("textarea, input[type=number]")) return;
    if (event.key === "?") {
      guide.open = !guide.open;
      if (guide.open) guide.scrollIntoView({ block: "start" });
      return;
    }
    const question = questions.find(function (one) { return one.contains(document.activeElement); }) || questions.find(function (one) { return !answered(one); });
    const radio = question && question.querySelector('input[data-key="' + event.key + '"]');
    if (radio) {
      radio.checked = true;
      radio.focus();
      radio.dispatchEvent(new Event("change", { bubbles: true }));
      event.preventDefault();
    }
  });

  form.addEventListener("submit", function (event) {
    const open = questions.find(function (question) { return !answered(question); });
    if (open || send.disabled) {
      event.preventDefault();
      trouble.textContent = window.genie.word("open");
      trouble.hidden = false;
      if (open) open.querySelector("input:not([hidden])").focus();
      return;
    }
    tick();
    form.elements.namedItem("active_seconds").value = seconds.toFixed(1);
    send.disabled = true;
  });
})();
