// Keeps the parts of a page that change up to date: asks for the same page again, and puts each
// changed part in the place of the old one. Without this script a link reloads the page.
(() => {
  "use strict";
  const live = document.querySelector("[data-live]");
  if (!live) return;

  const every = Number(live.dataset.live) * 1000;
  const longest = 60000;
  const said = document.getElementById("live-said");
  const fault = document.getElementById("live-fault");
  const seen = new Map();
  let wait = every;
  let timer = 0;
  let over = false;

  const tell = (place, text) => {
    if (place && place.textContent !== text) place.textContent = text;
  };

  // What the reader has unfolded and where the keyboard is must outlive the change.
  const put = (old, fresh) => {
    for (const details of old.querySelectorAll("details[id]")) {
      const again = fresh.querySelector(`#${CSS.escape(details.id)}`);
      if (again) again.open = details.open;
    }
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const name = focused && (focused.id || focused.dataset.focus);
    const scrolled = [...old.querySelectorAll(".scroll[id]")].map((box) => [box.id, box.scrollLeft]);
    const adopted = document.adoptNode(fresh);
    old.replaceWith(adopted);
    for (const [id, left] of scrolled) {
      const box = document.getElementById(id);
      if (box) box.scrollLeft = left;
    }
    if (name) {
      const again =
        document.getElementById(name) || adopted.querySelector(`[data-focus="${CSS.escape(name)}"]`);
      if (again) again.focus({ preventScroll: true });
    }
  };

  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const root = fresh.querySelector("[data-live-page]");
    if (!root) throw new Error("the page no longer has what is shown here");
    for (const old of document.querySelectorAll("[data-live-part]")) {
      const name = old.dataset.livePart;
      const part = fresh.querySelector(`[data-live-part="${CSS.escape(name)}"]`);
      if (!part || part.innerHTML === seen.get(name)) continue;
      seen.set(name, part.innerHTML);
      put(old, part);
    }
    tell(said, (fresh.getElementById("live-said") || { textContent: "" }).textContent);
    return root.hasAttribute("data-live");
  };

  const again = (milliseconds) => {
    clearTimeout(timer);
    timer = setTimeout(ask, milliseconds);
  };

  const later = (reason, least) => {
    wait = Math.min(longest, Math.max(wait * 2, least));
    tell(fault, `${reason} Trying again in ${Math.round(wait / 1000)} s.`);
    again(wait);
  };

  async function ask() {
    if (over || document.hidden) return; // asked again once the page is looked at
    let answer;
    try {
      answer = await fetch(location.href, {
        headers: { Accept: "text/html" },
        redirect: "manual",
        cache: "no-store",
      });
    } catch {
      later("The server does not answer.", every);
      return;
    }
    if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) {
      over = true;
      tell(fault, "You are signed out: reload the page to sign in.");
      return;
    }
    if (!answer.ok) {
      const least = Number(answer.headers.get("Retry-After") || 0) * 1000;
      later(`The server answers ${answer.status}.`, least);
      return;
    }
    try {
      const goesOn = show(await answer.text());
      wait = every;
      tell(fault, "");
      over = !goesOn;
      if (goesOn) again(every);
    } catch {
      later("The page could not be read.", every);
    }
  }

  for (const part of document.querySelectorAll("[data-live-part]")) {
    seen.set(part.dataset.livePart, part.innerHTML);
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) again(0);
  });
  document.documentElement.classList.add("is-live");
  again(every);
})();
