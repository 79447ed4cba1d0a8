// Asks for a submission's progress while there is some, and shows what is new.
// Reading needs none of this: without scripts the page reloads itself (a <noscript>).
(() => {
  const place = document.getElementById("progress");
  const spoken = document.getElementById("progress-said");
  const SLOWEST = 300;
  let tag = "";
  let trouble = 1;

  const parsed = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");
  const line = () => place.querySelector(".progress-line");
  const every = () => Number(line()?.dataset.every || 0);

  // What the new state brings with it, such as metrics or a score; not under somebody's hands.
  const refresh = async () => {
    const page = await parsed(await fetch(location.href, { credentials: "same-origin" }));
    for (const id of ["score", "evidence"]) {
      const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
      if (old && fresh && !old.contains(document.activeElement)) old.replaceWith(fresh);
    }
  };

  const show = async (answer) => {
    const before = line();
    const open = place.querySelector("details")?.open;
    const fresh = (await parsed(answer)).querySelector(".progress-line");
    if (!fresh) return;
    const focused = before.contains(document.activeElement) ? document.activeElement.tagName : "";
    before.replaceWith(fresh);
    if (open) fresh.querySelector("details").open = true;
    if (focused) fresh.querySelector(focused)?.focus();
    const said = fresh.querySelector(".waits");
    if (said && said.textContent !== before.querySelector(".waits")?.textContent) spoken.textContent = said.textContent;
    if (fresh.dataset.state !== before.dataset.state) await refresh();
  };

  const ask = async () => {
    if (document.visibilityState === "visible") {
      try {
        const address = new URL(location.href);
        address.searchParams.set("live", "1");
        const answer = await fetch(address, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
        if (answer.ok) {
          await show(answer);
          tag = answer.headers.get("ETag") || "";
        }
        trouble = answer.ok || answer.status === 304 ? 1 : trouble * 2;
      } catch {
        trouble *= 2;
      }
    }
    if (every()) setTimeout(ask, 1000 * Math.min(SLOWEST, every() * trouble));
  };

  if (place && every()) setTimeout(ask, 1000 * every());
})();
