// The menu under one's name closes as menus do: by Escape, and by going elsewhere.
"use strict";

const menu = document.querySelector("details.menu");

document.addEventListener("click", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});

menu.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

menu.addEventListener("focusout", (event) => {
  if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
});
