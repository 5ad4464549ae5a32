(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const cases = [...document.querySelectorAll(".case")];
  const said = form.querySelector("output");
  const apply = () => {
    const words = form.elements.words.value.trim().toLowerCase();
    const cause = form.elements.cause.value;
    const check = form.elements.check.value;
    let shown = 0;
    for (const each of cases) {
      const fits = (!cause || each.dataset.cause === cause)
        && (!check || each.dataset.check === check)
        && (!words || each.textContent.toLowerCase().includes(words));
      each.hidden = !fits;
      shown += fits;
    }
    said.value = `${shown} of ${cases.length} shown`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
