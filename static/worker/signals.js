// Counts what happens on a HIT's page while it is answered; the consent text says what and why.
// Numbers only: never what was copied, pasted or typed. Without this script nothing is recorded.
(function () {
  "use strict";

  const PREFIX = "genie-signals-";

  window.genie.onHit(function (signal) {
    const form = document.getElementById("hit");
    if (!form || !form.dataset.signals) return;

    const KEY = PREFIX + form.dataset.hit;
    const until = { signal: signal };
    let away = false;
    let noticed = { first_change_seconds: null, n_changes: 0, n_focus_losses: 0, n_copies: 0, n_pastes: 0 };
    let opened = Date.now();

    // A reload of the page is still the same turn.
    try {
      const before = JSON.parse(sessionStorage.getItem(KEY));
      if (before) {
        noticed = before.noticed;
        opened = before.opened;
      }
      for (const key of Object.keys(sessionStorage)) {
        if (key.startsWith(PREFIX) && key !== KEY) sessionStorage.removeItem(key);
      }
    } catch (error) {
      // Without a store it begins anew.
    }

    function keep() {
      try {
        sessionStorage.setItem(KEY, JSON.stringify({ noticed: noticed, opened: opened }));
      } catch (error) {
        // It holds until the page is left, then.
      }
    }

    function count(name) {
      noticed[name] += 1;
      keep();
    }

    function leave() {
      // Hiding a page blurs it, too: one loss, not two.
      if (!away) count("n_focus_losses");
      away = true;
    }

    form.addEventListener("change", function () {
      if (noticed.first_change_seconds === null) {
        noticed.first_change_seconds = Math.max(0, Math.round((Date.now() - opened) / 1000));
      }
      count("n_changes");
    });
    document.addEventListener("copy", function () { count("n_copies"); }, until);
    document.addEventListener("paste", function () { count("n_pastes"); }, until);
    window.addEventListener("blur", leave, until);
    window.addEventListener("focus", function () { away = false; }, until);
    // A page that is reloaded or left for the next one is hidden, too; nobody looked elsewhere.
    window.addEventListener("pagehide", function () { away = true; }, until);
    window.addEventListener("pageshow", function () { away = false; }, until);
    document.addEventListener("visibilitychange", function () {
      if (document.visibilityState === "hidden") leave();
      else away = false;
    }, until);
    keep();

    // Whoever sends the form, with or without the page's other script.
    form.addEventListener("formdata", function (event) {
      event.formData.set("signals", JSON.stringify(noticed));
    });
  });
})();
