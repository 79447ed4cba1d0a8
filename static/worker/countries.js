// Names the countries in the language of the page; without it they are codes.
const countries = document.getElementById("id_country");
if (countries && Intl.DisplayNames) {
  const language = document.documentElement.lang || "en";
  const names = new Intl.DisplayNames([language], { type: "region" });
  const [none, ...rest] = countries.options;
  const chosen = countries.value;
  for (const option of rest) option.textContent = names.of(option.value);
  rest.sort((a, b) => a.textContent.localeCompare(b.textContent, language));
  countries.replaceChildren(none, ...rest);
  countries.value = chosen;
}
