// The simple elements of the crowd-form family, for pages whose own script for them does
// not load any more: a form with one answer, taskAnswers, as JSON. Bounding boxes and the
// like are not among them.
(function () {
  "use strict";

  const FIELDS = {
    "crowd-input": ["input", "text"],
    "crowd-text-area": ["textarea", null],
    "crowd-slider": ["input", "range"],
    "crowd-checkbox": ["input", "checkbox"],
    "crowd-radio-button": ["input", "radio"],
  };
  const COPIED = ["name", "value", "required", "disabled", "placeholder", "min", "max", "step", "rows", "maxlength", "checked", "id"];

  function replace(old, made) {
    for (const attribute of old.attributes) {
      if (COPIED.includes(attribute.name)) made.setAttribute(attribute.name, attribute.value);
    }
    return made;
  }

  function field(old) {
    const [tag, type] = FIELDS[old.localName];
    const made = document.createElement(tag);
    if (type) made.type = type;
    replace(old, made);
    if (tag === "textarea") made.value = old.getAttribute("value") || "";
    const chosen = type === "checkbox" || type === "radio";
    // Each button has a name of its own; what is exclusive is their group.
    if (type === "radio") {
      made.dataset.name = made.name;
      const group = old.closest("crowd-radio-group");
      made.name = "group-" + Array.from(document.querySelectorAll("crowd-radio-group")).indexOf(group);
    }
    const label = document.createElement("label");
    const words = document.createElement("span");
    if (chosen) words.append(...old.childNodes);
    else words.textContent = old.getAttribute("label") || "";
    label.append(...(chosen ? [made, words] : [words, made]));
    old.replaceWith(label);
  }

  function answers(form) {
    const found = {};
    for (const one of form.elements) {
      const name = one.dataset.name || one.name;
      if (!name || one.type === "submit" || one.type === "button") continue;
      if (one.type === "radio" || one.type === "checkbox") {
        found[name] = found[name] || {};
        found[name][one.value || "on"] = one.checked;
      } else {
        found[name] = one.value;
      }
    }
    return found;
  }

  function rebuild(old) {
    const form = document.createElement("form");
    form.append(...old.childNodes);
    old.replaceWith(form);
    form.querySelectorAll(Object.keys(FIELDS).join()).forEach(field);
    for (const button of form.querySelectorAll("crowd-button")) {
      const made = replace(button, document.createElement("button"));
      made.type = button.getAttribute("form-action") === "submit" ? "submit" : "button";
      made.append(...button.childNodes);
      button.replaceWith(made);
    }
    if (!form.querySelector("button[type=submit], input[type=submit]")) {
      const button = document.createElement("button");
      button.textContent = "Submit";
      form.append(button);
    }
    for (const button of form.querySelectorAll("button[type=submit], input[type=submit]")) {
      if (window.turkGetParam("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE") button.disabled = true;
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const sent = document.createElement("form");
      sent.id = "mturk_form";
      sent.hidden = true;
      const input = document.createElement("input");
      input.type = "hidden";
      input.name = "taskAnswers";
      input.value = JSON.stringify([answers(form)]);
      sent.append(input);
      document.body.append(sent);
      sent.submit();
    });
  }

  // Their own script, where it loads, has defined the element by now.
  window.addEventListener("load", () => {
    if (window.customElements.get("crowd-form")) return;
    document.querySelectorAll("crowd-form").forEach(rebuild);
  });
})();
