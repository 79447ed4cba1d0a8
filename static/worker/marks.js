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
    const status = box.querySelector(".marked");
    const tools = box.querySelector(".tools");
    const kinds = box.querySelector(".kinds");
    const severities = Array.from(tools.querySelectorAll("[data-severity]"), function (button) { return button.dataset.severity; }).filter(Boolean);
    const place = box.previousElementSibling.querySelector(".judged .text");
    if (!text.trim() && !box.dataset.missing) return;

    // --- the text as words that can be chosen ----------------------------------------

    const options = [];
    let offset = 0;

    function option(part, name) {
      const span = document.createElement("span");
      span.className = "word";
      span.id = sent.name + "-" + name;
      span.textContent = part;
      span.setAttribute("role", "option");
      span.setAttribute("aria-selected", "false");
      place.append(span);
      return span;
    }

    if (text.trim()) place.textContent = "";
    for (const part of words(text)) {
      const end = offset + length(part);
      if (part.trim()) options.push({ word: option(part, offset), start: offset, end: end });
      else if (text.trim()) place.append(part);
      offset = end;
    }
    // What is missing has no place in the text: a word of its own stands for it.
    if (box.dataset.missing) {
      place.append(" ");
      options.push({ word: option(box.dataset.missing, "missing"), missing: true });
      options[options.length - 1].word.classList.add("missing");
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
      // An empty list says that somebody could mark, and found nothing.
      if (!sent.value) sent.value = "[]";
      try {
        spans = JSON.parse(sent.value || "[]");
      } catch (error) {
        spans = [];
      }
    }

    function covers(span, option) {
      return option.missing ? Boolean(span.missing) : !span.missing && span.start < option.end && option.start < span.end;
    }

    function said(severity) {
      const button = tools.querySelector('[data-severity="' + severity + '"]');
      return button ? button.dataset.said : severity;
    }

    function show() {
      options.forEach(function (option, i) {
        const span = spans.find(function (one) { return covers(one, option); });
        for (const severity of severities) option.word.classList.toggle(severity, Boolean(span) && span.severity === severity);
        option.word.classList.toggle("error", Boolean(span));
        const chosen = anchor >= 0 && first() <= i && i <= last();
        option.word.classList.toggle("chosen", chosen);
        option.word.classList.toggle("here", i === head);
        option.word.setAttribute("aria-selected", String(chosen));
        if (span) option.word.setAttribute("aria-label", word("marked-word", { word: option.word.textContent, severity: [said(span.severity), kindOf(span)].filter(Boolean).join(", ") }));
        else option.word.removeAttribute("aria-label");
      });
      if (head >= 0) place.setAttribute("aria-activedescendant", options[head].word.id);
      const count = function (severity) { return spans.filter(function (one) { return one.severity === severity; }).length; };
      status.textContent = severities.join() === "minor,major"
        ? word("marked", { minor: count("minor"), major: count("major") })
        : word("marked-any", { list: severities.map(function (severity) { return count(severity) + " \u00d7 " + said(severity); }).join(", ") });
    }

    // --- a category for each marked error ------------------------------------------------

    function textOf(span) {
      if (span.missing) return box.dataset.missing;
      return Array.from(text).slice(span.start, span.end).join("");
    }

    function kindOf(span) {
      if (!kinds || !span.category) return "";
      const known = Array.from(box.querySelector("template").content.querySelectorAll("option"));
      const found = known.find(function (one) { return one.value === span.category; });
      return found ? found.textContent : span.category;
    }

    function list() {
      if (!kinds) return;
      kinds.textContent = "";
      kinds.hidden = !spans.length;
      for (const span of spans) {
        const row = box.querySelector("template").content.firstElementChild.cloneNode(true);
        const select = row.querySelector("select");
        const named = row.querySelector("span");
        named.textContent = word("marked-word", { word: textOf(span), severity: said(span.severity) });
        named.dir = "auto";
        select.value = span.category || "";
        select.addEventListener("change", function () {
          if (select.value) span.category = select.value;
          else delete span.category;
          store();
          show();
        });
        // Back to the text, to the next error.
        select.addEventListener("keydown", function (event) {
          if (event.key !== "Enter") return;
          event.preventDefault();
          event.stopPropagation();
          place.focus();
        });
        kinds.append(row);
      }
    }

    function store() {
      sent.value = JSON.stringify(spans);
      sent.dispatchEvent(new Event("change", { bubbles: true }));
    }

    function choose(i, extend) {
      head = Math.max(0, Math.min(options.length - 1, i));
      // What is missing is marked by itself.
      const apart = anchor >= 0 && (options[head].missing || options[anchor].missing);
      if (!extend || anchor < 0 || apart) anchor = head;
      show();
    }

    function mark(severity) {
      if (anchor < 0) {
        status.textContent = word("choose-first");
        return;
      }
      const chosen = options.slice(first(), last() + 1);
      spans = spans.filter(function (one) { return !chosen.some(function (option) { return covers(one, option); }); });
      const missing = options[head].missing;
      const made = missing ? { missing: true } : { start: options[first()].start, end: options[last()].end };
      if (severity) spans.push(Object.assign(made, { severity: severity }));
      spans.sort(function (a, b) { return a.missing ? 1 : b.missing ? -1 : a.start - b.start; });
      anchor = head;
      pending = false;
      store();
      list();
      show();
      if (kinds && severity) kinds.children[spans.indexOf(made)].querySelector("select").focus();
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
    const SEVERITIES = { Delete: "", Backspace: "" };
    severities.forEach(function (severity, i) { SEVERITIES[i + 1] = severity; });

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

    document.addEventListener("genie:filled", function () { read(); list(); show(); }, { signal: signal });
    read();
    list();
    show();
  }

  window.genie.onHit(function (signal) {
    for (const box of document.querySelectorAll(".marks")) start(box, signal);
  });
})();
