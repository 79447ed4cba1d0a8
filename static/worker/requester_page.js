// Runs inside a requester's page, before anything of theirs. Pages written for Mechanical
// Turk call three functions of a script that was served there, or name its address in
// their form; here both lead to where the page was loaded from.
(function () {
  "use strict";

  const NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const THEIRS = /^https:\/\/(www|workersandbox)\.mturk\.com\/+mturk\/+externalSubmit/i;
  const known = new URLSearchParams(location.search);

  function param(name, fallback) {
    return known.has(name) ? known.get(name) : fallback === undefined ? "" : fallback;
  }

  function target() {
    return param("turkSubmitTo", "").replace(/\/+$/, "") + "/mturk/externalSubmit";
  }

  // A field called "action" would hide the property.
  function actionOf(form) {
    return form.getAttribute("action") || "";
  }

  function prepare(form) {
    const ours = THEIRS.test(actionOf(form)) || form.id === "mturk_form" || /\/mturk\/externalSubmit$/.test(actionOf(form));
    if (!ours) return;
    form.setAttribute("action", target());
    form.setAttribute("method", "post");
    let field = form.querySelector("input[name=assignmentId]");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.appendChild(field);
    }
    field.value = param("assignmentId");
  }

  window.turkGetParam = param;
  window.turkGetSubmitToHost = function () {
    return param("turkSubmitTo", "").replace(/\/+$/, "");
  };
  window.turkSetAssignmentID = function (formName, buttonName) {
    const form = document.getElementById(formName || "mturk_form");
    if (form) {
      form.id = form.id || "mturk_form";
      form.setAttribute("action", target());
      prepare(form);
    }
    const button = document.getElementById(buttonName || "submitButton");
    if (button && param("assignmentId") === NOT_AVAILABLE) button.disabled = true;
  };

  document.addEventListener("submit", (event) => prepare(event.target), true);
  const submit = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () {
    prepare(this);
    submit.call(this);
  };

  // The page around the frame cannot measure it.
  function tellHeight() {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    parent.postMessage({ genie: "height", height: height }, "*");
  }
  window.addEventListener("load", () => {
    tellHeight();
    if (window.ResizeObserver) new ResizeObserver(tellHeight).observe(document.documentElement);
  });
})();
