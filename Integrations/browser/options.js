// The settings: what is handed over, and whose cookies are sent.

import { at, fillTexts, make, permitCookies, text } from "./page.js";
import { wordsOf } from "./rules.js";
import { Service } from "./service.js";
import { change, settings } from "./state.js";

fillTexts();

async function show() {
  const { isOn, leastSize, types, otherTypes, otherSites, cookieSites } = await settings();
  const service = await Service.stored();
  at("address").textContent = service ? text("pairedWith", service.origin) : text("notPaired");
  at("unpair").hidden = service === null;
  at("is-on").checked = isOn;
  at("least").value = String(leastSize / 2 ** 20);
  at("types").value = types.join(", ");
  at("other-types").value = otherTypes.join(", ");
  at("other-sites").value = otherSites.join(", ");
  at("sites").replaceChildren(...cookieSites.map((site) => make("li", {}, `${site} `, make("button", { type: "button", onclick: () => revoke(site) }, text("revoke")))));
}

/** The browser forgets the permission too. @param {string} site */
async function revoke(site) {
  const { cookieSites } = await settings();
  const rest = cookieSites.filter((other) => other !== site);
  await change({ cookieSites: rest });
  await chrome.permissions.remove({ origins: [`*://${site}/*`, `*://*.${site}/*`] }).catch(() => {});
  if (rest.length === 0) await chrome.permissions.remove({ permissions: ["cookies"] }).catch(() => {});
  await show();
}

at("unpair").addEventListener("click", async () => {
  await Service.unpair();
  await show();
});

at("rules").addEventListener("submit", async (event) => {
  event.preventDefault();
  await change({
    isOn: at("is-on").checked, leastSize: Math.round(Math.max(0, at("least").valueAsNumber || 0) * 2 ** 20), types: wordsOf(at("types").value),
    otherTypes: wordsOf(at("other-types").value), otherSites: wordsOf(at("other-sites").value),
  });
  at("saved").textContent = text("saved");
  await show();
});

at("allowing").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [site] = wordsOf(at("site").value);
  if (!site || !(await permitCookies(site))) return;
  const { cookieSites } = await settings();
  await change({ cookieSites: [...new Set([...cookieSites, site])].sort() });
  at("site").value = "";
  await show();
});

await show();
