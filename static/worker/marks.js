// Marks errors in a text, word by word: with mouse, finger or keyboard. Offsets count code points of the text as
// the server has it.
(function () {
  "use strict";

  const word = window.genie.word;

  function words(text) {
    if (window.Intl && Intl.Segmenter) {
      const parts = Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text));
      return parts.map(function (part) { return part.segment; });
    }
    return text.split(/(\s+)/).filter(Boolean);
  }

  function length(text) {
    return Array.from(text).length;
  }

  function start(box, signal) {
    const text = JSON.parse(box.dataset.text);
    const sent = box.querySelector("input.spans");
    const said = box.querySelector(".marked");
    const tools = box.querySelector(".tools");
    const place = box.closest(".item").querySelector(".judged .text");
    if (!text.trim()) return;

    // --- the text as words that can be chosen ----------------------------------------

    const options = [];
    let offset = 0;
    place.textContent = "";
    for (const part of words(text)) {
      const end = offset + length(part);
      if (part.trim()) {
        const span = document.createElement("span");
        span.className = "word";
        span.id = sent.name + "-" + offset;
        span.textContent = part;
        span.setAttribute("role", "option");
        span.setAttribute("aria-selected", "false");
        options.push({ word: span, start: offset, end: end, severity: "" });
        place.append(span);
      } else {
        place.append(part);
      }
      offset = end;
    }
    place.tabIndex = 0;
    place.setAttribute("role", "listbox");
    place.setAttribute("aria-multiselectable", "true");
    place.setAttribute("aria-label", word("text-to-mark"));
    tools.hidden = false;

    let spans = [];
    let anchor = -1;
    let head = -1;

    function first() { return Math.min(anchor, head); }
    function last() { return Math.max(anchor, head); }

    function read() {
      try {
        spans = JSON.parse(sent.value || "[]");
      } catch (error) {
        spans = [];
      }
    }

    function show() {
      options.forEach(function (option, i) {
        const span = spans.find(function (one) { return one.start < option.end && option.start < one.end; });
        option.word.classList.toggle("minor", Boolean(span) && span.severity === "minor");
        option.word.classList.toggle("major", Boolean(span) && span.severity === "major");
        const chosen = anchor >= 0 && first() <= i && i <= last();
        option.word.classList.toggle("chosen", chosen);
        option.word.classList.toggle("here", i === head);
        option.word.setAttribute("aria-selected", String(chosen));
        if (span) option.word.setAttribute("aria-label", word("marked-word", { word: option.word.textContent, severity: word(span.severity) }));
        else option.word.removeAttribute("aria-label");
      });
      if (head >= 0) place.setAttribute("aria-activedescendant", options[head].word.id);
      const count = function (severity) { return spans.filter(function (one) { return one.severity === severity; }).length; };
      said.textContent = word("marked", { minor: count("minor"), major: count("major") });
    }

    function choose(i, extend) {
      head = Math.max(0, Math.min(options.length - 1, i));
      if (!extend || anchor < 0) anchor = head;
      show();
    }

    function mark(severity) {
      if (anchor < 0) {
        said.textContent = word("choose-first");
        return;
      }
      const from = options[first()].start;
      const to = options[last()].end;
      spans = spans.filter(function (one) { return one.end <= from || to <= one.start; });
      if (severity) spans.push({ start: from, end: to, severity: severity });
      spans.sort(function (a, b) { return a.start - b.start; });
      sent.value = spans.length ? JSON.stringify(spans) : "";
      anchor = head;
      pending = false;
      sent.dispatchEvent(new Event("change", { bubbles: true }));
      show();
    }

    // --- mouse and finger: the first and the last word, or a drag ---------------------

    let pressed = false;
    let dragged = false;
    let pending = false;

    function under(event) {
      const element = document.elementFromPoint(event.clientX, event.clientY);
      return options.findIndex(function (option) { return option.word === element; });
    }

    place.addEventListener("pointerdown", function (event) {
      const i = under(event);
      if (i < 0 || event.button) return;
      pressed = event.pointerType === "mouse";
      dragged = false;
      // A second click or tap ends what the first one began.
      if (pending && i !== anchor) {
        choose(i, true);
        pending = false;
      } else {
        choose(i, false);
        pending = true;
      }
    });
    place.addEventListener("pointermove", function (event) {
      const i = pressed ? under(event) : -1;
      if (i < 0 || i === head) return;
      dragged = true;
      choose(i, true);
    });
    window.addEventListener("pointerup", function () {
      if (dragged) pending = false;
      pressed = false;
    }, { signal: signal });

    for (const button of tools.querySelectorAll("button")) {
      button.addEventListener("click", function () { mark(button.dataset.severity); });
    }

    // --- keyboard: arrows, Shift, and a key for each severity -------------------------

    const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const SEVERITIES = { 1: "minor", 2: "major", Delete: "", Backspace: "" };

    place.addEventListener("focus", function () {
      if (head < 0 && !pressed) choose(0, false);
    });
    place.addEventListener("keydown", function (event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const backwards = getComputedStyle(place).direction === "rtl" && /Left|Right/.test(event.key);
      if (event.key in STEPS) choose(head + (backwards ? -1 : 1) * STEPS[event.key], event.shiftKey);
      else if (event.key === "Home") choose(0, event.shiftKey);
      else if (event.key === "End") choose(options.length - 1, event.shiftKey);
      else if (event.key in SEVERITIES) mark(SEVERITIES[event.key]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });

    document.addEventListener("genie:filled", function () { read(); show(); }, { signal: signal });
    read();
    show();
  }

  window.genie.onHit(function (signal) {
    for (const box of document.querySelectorAll(".marks")) start(box, signal);
  });
})();
