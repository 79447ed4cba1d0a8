// Copying with one click: without it, files are links and texts can be selected.
"use strict";

const text = (one) =>
  one.href ? fetch(one.href).then((answer) => answer.text()) : Promise.resolve(one.textContent);

if (navigator.clipboard) {
  for (const one of document.querySelectorAll(".share [data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${one.dataset.copy}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(await text(one));
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    one.after(button);
  }
}
