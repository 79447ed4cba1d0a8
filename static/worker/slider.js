// A slider beside a number field: it stands nowhere until somebody moves it. The number is what is sent.
(function () {
  "use strict";

  function start(slider, signal) {
    const number = document.getElementById(slider.dataset.for);

    const follow = function () {
      const set = number.value !== "" && number.validity.valid;
      slider.classList.toggle("unset", !set);
      if (set) {
        slider.value = number.value;
        slider.removeAttribute("aria-valuetext");
      } else {
        slider.setAttribute("aria-valuetext", window.genie.word("not-set"));
      }
    };
    const lead = function () {
      number.value = slider.value;
      slider.classList.remove("unset");
      slider.removeAttribute("aria-valuetext");
      number.dispatchEvent(new Event("input", { bubbles: true }));
    };

    slider.hidden = false;
    slider.addEventListener("input", lead);
    // A click where the thumb happens to stand moves nothing, but it is an answer.
    slider.addEventListener("click", lead);
    number.addEventListener("input", follow);
    document.addEventListener("genie:filled", follow, { signal: signal });
    follow();
  }

  window.genie.onHit(function (signal) {
    for (const slider of document.querySelectorAll("input[type=range][data-for]")) start(slider, signal);
  });
})();
