// Makes the HIT page quicker and safer; without it the page works as a plain form.
(function () {
  "use strict";

  const IDLE_SECONDS = 60;
  const SOON_SECONDS = 120;
  const LONGEST_WAIT = 30;
  // So many HITs take each other's place before a page is loaded anew, with its header.
  const RELOAD_AFTER = 20;
  const word = window.genie.word;
  let n_here = 0;

  function start(signal) {
    const form = document.getElementById("hit");
    if (!form) return;

    const until = { signal: signal };
    // A qualification test has a store of its own: it must not forget an open HIT's answers.
    const PREFIX = form.dataset.store || "genie-hit-";
    const KEY = PREFIX + form.dataset.hit;

    const trouble = document.getElementById("trouble");
    const send = document.getElementById("send");
    const active = form.elements.namedItem("active_seconds");
    const questions = Array.from(form.querySelectorAll(".question"));
    const items = Array.from(form.querySelectorAll(".item"));
    let here = null;
    const controls = Array.from(form.querySelectorAll("input[type=radio], input[type=checkbox][name], input[type=number], input.spans, textarea"));

    // --- answers stay on this machine until the server has them ------------------------

    let seconds = 0;

    function stored() {
      try {
        return JSON.parse(localStorage.getItem(KEY)) || {};
      } catch (error) {
        return {};
      }
    }

    function keep() {
      const values = {};
      for (const control of controls) {
        if (control.type === "checkbox") values[control.name] = control.checked;
        else if (control.type !== "radio") values[control.name] = control.value;
        else if (control.checked) values[control.name] = control.value;
      }
      try {
        localStorage.setItem(KEY, JSON.stringify({ values: values, seconds: seconds }));
      } catch (error) {
        // A full or forbidden store: the answers still stand on the page.
      }
    }

    function fill(values) {
      for (const control of controls) {
        const value = values[control.name];
        if (value === undefined) continue;
        if (control.type === "radio") control.checked = control.value === value;
        else if (control.type === "checkbox") control.checked = value === true;
        else control.value = value;
        if (control.type === "textarea" && value) control.closest("details").open = true;
      }
      // The sliders and the marked text follow.
      document.dispatchEvent(new Event("genie:filled"));
    }

    function forget() {
      try {
        localStorage.removeItem(KEY);
      } catch (error) {
        // Nothing was stored, then.
      }
    }

    function forgetOthers() {
      try {
        for (const key of Object.keys(localStorage)) {
          if (key.startsWith(PREFIX) && key !== KEY) localStorage.removeItem(key);
        }
      } catch (error) {
        // Nothing was stored, then.
      }
    }

    const before = stored();
    seconds = Number(before.seconds) || 0;
    if (before.values) fill(before.values);
    forgetOthers();
    settle();
    form.addEventListener("change", function () { keep(); settle(); });
    // The last events of a tap and of a key: folding a text before them would move the page under the finger.
    for (const last of ["click", "keyup"]) form.addEventListener(last, function (event) { here = event.target.closest(".item") || here; settle(); });
    form.addEventListener("input", keep);
    // What another tab with the same HIT changes shows here, too.
    window.addEventListener("storage", function (event) {
      if (event.key === KEY && event.newValue) fill(stored().values || {});
    }, until);

    // --- time: what is left, and what was really spent reading -------------------------

    const left = document.getElementById("left");
    const opened = Date.now();
    let lastSign = Date.now();
    let lastTick = Date.now();

    for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "touchstart"]) {
      window.addEventListener(sign, function () { lastSign = Date.now(); }, { passive: true, signal: signal });
    }

    function two(number) {
      return String(number).padStart(2, "0");
    }

    function showTimeLeft() {
      if (!left) return;
      const rest = Math.max(0, Number(left.dataset.seconds) - Math.floor((Date.now() - opened) / 1000));
      left.textContent = rest ? word("left", { time: Math.floor(rest / 60) + ":" + two(rest % 60) }) : word("up");
      left.classList.toggle("soon", rest < SOON_SECONDS);
    }

    function tick() {
      const now = Date.now();
      const awake = document.visibilityState === "visible" && now - lastSign < IDLE_SECONDS * 1000;
      // A step longer than two seconds means that the machine slept.
      if (awake) seconds += Math.min((now - lastTick) / 1000, 2);
      lastTick = now;
      showTimeLeft();
    }

    showTimeLeft();
    const ticking = window.setInterval(tick, 1000);
    window.addEventListener("pagehide", function () { tick(); if (!sent) keep(); }, until);

    // --- keys: a digit answers, Enter sends --------------------------------------------

    function answered(question) {
      if (question.classList.contains("tick")) return true;
      const number = question.querySelector("input[type=number]");
      return number ? number.value !== "" : Boolean(question.querySelector(":checked"));
    }

    function current() {
      const focused = questions.find(function (question) { return question.contains(document.activeElement); });
      return focused || questions.find(function (question) { return !answered(question); }) || questions[questions.length - 1];
    }

    function choose(key) {
      const question = current();
      const radio = question && question.querySelector('input[data-key="' + key + '"]');
      if (!radio) return false;
      radio.checked = true;
      radio.dispatchEvent(new Event("change", { bubbles: true }));
      if (!goOn(question)) radio.focus();
      return true;
    }

    // To the next question without an answer; in another item its text comes first.
    function goOn(question) {
      const next = questions.slice(questions.indexOf(question) + 1).find(function (other) { return !answered(other); });
      if (!next) return false;
      const item = next.closest(".item");
      const other = item !== question.closest(".item");
      next.querySelector("input:not([hidden])").focus({ preventScroll: other });
      if (other) item.scrollIntoView({ block: "start" });
      return true;
    }

    // Mouse and finger: what comes next comes into sight, its text first.
    form.addEventListener("click", function (event) {
      const question = event.detail && event.target.closest(".answer") && event.target.closest(".question");
      if (!question) return;
      const next = questions.slice(questions.indexOf(question) + 1).find(function (other) { return !answered(other); });
      if (!next) return;
      const item = next.closest(".item");
      const text = item !== question.closest(".item") ? item : next.previousElementSibling;
      const withText = text && text.matches(".shown, .item");
      window.requestAnimationFrame(function () { (withText ? text : next).scrollIntoView({ block: withText ? "start" : "nearest" }); });
    });

    // Of several items on a page, those that are answered step back once another is at work.
    function settle() {
      for (const item of items.length > 1 ? items : []) {
        const inside = questions.filter(function (question) { return item.contains(question); });
        item.classList.toggle("done", item !== here && inside.length > 0 && inside.every(answered));
      }
    }

    // Nothing has the focus, as after a page came up: go to what is to be answered.
    function enter() {
      const text = form.querySelector(".marks") && form.querySelector("[role=listbox]");
      const question = current();
      const control = text || (question && question.querySelector("input:not([hidden])"));
      if (!control) return;
      control.focus();
      // As in any group of answers: the arrow that reaches an answer chooses it.
      if (control.type === "radio" && !answered(question)) control.click();
      else if (control.type === "radio") question.querySelector(":checked").focus();
    }

    // A digit for a number is typed into its field; what has marks has other uses for digits.
    function enterNumber() {
      const question = current();
      const number = question && question.querySelector("input[type=number]");
      if (number && !form.querySelector(".marks")) number.focus();
    }

    function isTyping(target) {
      return target.matches("textarea, input[type=number], input[type=text], select");
    }

    // Who speaks to the computer, or types with a switch, can turn the single keys off.
    const SWITCH = "genie-no-shortcuts";
    const shortcuts = document.getElementById("shortcuts");

    function showShortcuts() {
      form.classList.toggle("no-shortcuts", !shortcuts.checked);
    }

    try {
      shortcuts.checked = localStorage.getItem(SWITCH) === null;
    } catch (error) {
      // Without a store they are on.
    }
    shortcuts.parentElement.hidden = false;
    showShortcuts();
    shortcuts.addEventListener("change", function () {
      showShortcuts();
      try {
        if (shortcuts.checked) localStorage.removeItem(SWITCH);
        else localStorage.setItem(SWITCH, "1");
      } catch (error) {
        // It holds for this page, then.
      }
    });

    // A digit answers; ? opens the instructions, U takes the last answer back. True: it was one of ours.
    function press(event, target) {
      if (event.key === "Enter") {
        if (target.matches("textarea, button, a, summary, [type=checkbox]")) return false;
        // A key that is held down must not answer the next HIT, too.
        if (!event.repeat && !finished(target)) form.requestSubmit(send);
        return true;
      }
      if (isTyping(target) || event.repeat) return false;
      if (event.key === "?" && guide) return guide.click(), true;
      if (event.key.toLowerCase() === "u" && back && !back.hidden) return takeBack(), true;
      return false;
    }

    // Enter after a number goes on to the next question while there is one.
    function finished(target) {
      const question = target.matches("input[type=number]") && target.value !== "" && target.closest(".question");
      return Boolean(question) && goOn(question);
    }

    document.addEventListener("keydown", function (event) {
      if (!shortcuts.checked || document.querySelector("dialog[open]")) return;
      const target = event.target instanceof Element ? event.target : document.body;
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && back && !back.hidden && !isTyping(target)) return takeBack();
      if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
      if (press(event, target)) {
        event.preventDefault();
      } else if (/^[0-9]$/.test(event.key) && !isTyping(target) && !event.repeat) {
        if (choose(event.key)) event.preventDefault();
        else if (target === document.body) enterNumber();
      } else if (/^Arrow(Left|Right)$/.test(event.key) && target === document.body) {
        // Up and down still scroll.
        event.preventDefault();
        enter();
      }
    }, until);

    // --- the instructions over the page, and the last answer once more -----------------

    const guide = document.querySelector("a[data-guide]");
    if (guide) guide.addEventListener("click", openGuide);

    async function openGuide(event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      let dialog = document.getElementById("guide");
      try {
        if (!dialog) dialog = await madeGuide();
        dialog.showModal();
      } catch (error) {
        window.location.assign(guide.href);
      }
    }

    // Fetched when it is asked for, once on a page.
    async function madeGuide() {
      const response = await fetch(guide.href, { credentials: "same-origin" });
      const text = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-guide-text]");
      const dialog = document.createElement("dialog");
      dialog.id = "guide";
      dialog.setAttribute("aria-label", guide.dataset.guide);
      const close = document.createElement("button");
      close.className = "button second close";
      close.textContent = word("close");
      close.addEventListener("click", function () { dialog.close(); });
      dialog.append(close, document.importNode(text, true));
      dialog.addEventListener("keydown", function (event) { if (event.key === "?") dialog.close(); });
      guide.after(dialog);
      return dialog;
    }

    const back = document.getElementById("undo");

    function takeBack() {
      tick();
      keep();
      window.location.replace(back.querySelector("a").href);
    }

    if (back) {
      back.querySelector("a").addEventListener("click", function (event) { event.preventDefault(); takeBack(); });
      const gone = window.setTimeout(function () { back.hidden = true; }, Number(back.dataset.seconds) * 1000);
      signal.addEventListener("abort", function () { window.clearTimeout(gone); });
    }

    // --- sending: once, and again until it has arrived ---------------------------------

    let busy = false;
    let sent = false;
    let wait = 1;
    let again = 0;
    signal.addEventListener("abort", function () { window.clearInterval(ticking); window.clearTimeout(again); });

    function say(sentence) {
      trouble.textContent = sentence;
      trouble.hidden = !sentence;
    }

    function setBusy(yes) {
      busy = yes;
      if (yes) send.setAttribute("aria-disabled", "true");
      else send.removeAttribute("aria-disabled");
    }

    function goTo(reply) {
      sent = true;
      forget();
      // The page that was answered leaves the history: "back" does not lead to it.
      n_here += 1;
      if (!reply.page || n_here >= RELOAD_AFTER) return window.location.replace(reply.next);
      window.history.replaceState(null, "", reply.next);
      document.getElementById("at-work").innerHTML = reply.page;
      document.title = document.querySelector("h1").textContent + " · Genie";
      window.scrollTo(0, 0);
      document.dispatchEvent(new Event("genie:hit"));
      // As a new page would be, it is read out.
      document.getElementById("news").textContent = document.querySelector(".standing").firstElementChild.textContent;
    }

    function later() {
      wait = Math.min(wait * 2, LONGEST_WAIT);
      say(word("offline", { seconds: wait }));
      again = window.setTimeout(post, wait * 1000);
    }

    async function post() {
      window.clearTimeout(again);
      setBusy(true);
      let response;
      let reply = null;
      try {
        response = await fetch(form.action, {
          method: "POST",
          body: new FormData(form),
          headers: { Accept: "application/json" },
          credentials: "same-origin",
        });
        reply = await response.json();
      } catch (error) {
        if (!response || response.status >= 500) return later();
      }
      if (reply && (response.ok || reply.final)) return goTo(reply);
      setBusy(false);
      say(reply && reply.error ? reply.error : word("stale"));
    }

    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (busy) return;
      // Questions that came up later are not required for the browser, but they are for us.
      const open = questions.find(function (question) { return !answered(question); });
      if (open) {
        say(word("open"));
        return open.querySelector("input:not([hidden])").focus();
      }
      tick();
      active.value = seconds.toFixed(1);
      say("");
      post();
    });
    // The second click of a double click must not meet the next HIT.
    send.addEventListener("click", function (event) { if (event.detail > 1 && event.pointerType === "mouse") event.preventDefault(); });
    window.addEventListener("online", function () { if (again && busy) post(); }, until);
  }

  window.genie.onHit(start);
})();
