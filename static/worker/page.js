// What the scripts of a HIT's page share: the page's words, and a start for each HIT that comes up in it.
(function () {
  "use strict";

  const words = document.getElementById("words");

  window.genie = {
    // Words stand on the page, in the reader's language; {name} is filled in.
    word: function (name, values) {
      const found = words && words.content.querySelector('[data-word="' + name + '"]');
      const text = found ? found.textContent : "";
      return text.replace(/\{(\w+)\}/g, function (whole, key) { return values && key in values ? values[key] : whole; });
    },
    // What is begun for a HIT ends, by its signal, when the next one takes its place.
    onHit: function (start) {
      let life = new AbortController();
      document.addEventListener("genie:hit", function () {
        life.abort();
        life = new AbortController();
        start(life.signal);
      });
      start(life.signal);
    },
  };
})();
