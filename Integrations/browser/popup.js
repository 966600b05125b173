// The popup: pairing, what was handed over, and what stayed with the browser.

import { arrange, at, fillTexts, make, permit, permitCookies, size, text } from "./page.js";
import { parseLink } from "./rules.js";
import { Service } from "./service.js";
import { change, forget, notices, recent, settings } from "./state.js";

fillTexts();
const say = (/** @type {unknown} */ problem) => (at("problem").textContent = problem instanceof Error ? problem.message : String(problem ?? ""));

at("options").addEventListener("click", () => chrome.runtime.openOptionsPage());
at("open").addEventListener("click", async () => {
  try {
    const { url } = await (await Service.stored()).call("pawl.web");
    await chrome.tabs.create({ url });
  } catch (problem) {
    say(problem);
  }
});

at("pairing").addEventListener("submit", async (event) => {
  event.preventDefault();
  const link = parseLink(at("link").value);
  if (!link) return say(text("notALink"));
  try {
    // Granted already for this machine.
    if (!(await permit([`${link.origin.replace(/:\d+$/, "")}/*`]))) return say(text("notPermitted", link.origin));
    await Service.pair(at("link").value);
    at("link").value = "";
    say("");
    await show();
  } catch (problem) {
    say(problem);
  }
});

at("is-on").addEventListener("change", () => change({ isOn: at("is-on").checked }));

/** By the text of the notice: a press ends on the button where it began. @type {Map<string, Element>} */
let noticeElements = new Map();

async function showNotices() {
  const texts = (await notices()).map((notice) => JSON.stringify(notice));
  noticeElements = new Map(texts.map((key) => [key, noticeElements.get(key) ?? noticeElement(JSON.parse(key))]));
  arrange(at("notices"), [...noticeElements.values()]);
}

const kept = { unreachable: "keptUnreachable", refused: "keptRefused", different: "keptDifferent" };

/** @param {import("./state.js").Notice} notice */
function noticeElement(notice) {
  const { name, site, why, text: reason } = notice;
  const allow = async () => {
    if (!(await permitCookies(site))) return;
    const { cookieSites } = await settings();
    await change({ cookieSites: [...new Set([...cookieSites, site])].sort() });
    await forget((other) => other.site === site);
    await show();
  };
  const dismiss = async () => {
    await forget(({ url }) => url === notice.url);
    await show();
  };
  return make(
    "section",
    { class: "notice" },
    make("p", {}, make("strong", {}, name), ` ${text(kept[why])}`),
    ...(reason ? [make("p", { class: "hint" }, reason)] : []),
    make(
      "p",
      { class: "buttons" },
      ...(why === "unreachable" ? [] : [make("button", { type: "button", class: "allow", onclick: allow }, text("allowCookies", site))]),
      make("button", { type: "button", class: "dismiss", onclick: dismiss }, text("dismiss")),
    ),
  );
}

/** @param {Record<string, any>} row */
function rowElement(row) {
  const name = row.name ?? row.url;
  const percent = row.state === "finished" ? 100 : row.percent ?? 0;
  const facts = [
    row.state === "failed" ? row.error?.message : row.state === "finished" ? text("finished") : row.total ? `${Math.floor(percent)} %` : size(row.written ?? 0),
    row.speed > 0 && `${size(row.speed)}/s`,
  ].filter(Boolean);
  const bar = make("progress", { max: "100", "aria-label": name });
  if (row.total || row.state === "finished") bar.value = percent;
  return make("li", { "data-state": row.state, "data-id": row.id }, make("span", { class: "name", title: name }, name), bar, make("span", { class: "hint" }, facts.join(" · ")));
}

async function show() {
  const service = await Service.stored();
  at("pairing").hidden = service !== null;
  at("paired").hidden = at("open").hidden = service === null;
  if (!service) return at("link").focus();
  at("is-on").checked = (await settings()).isOn;
  await showNotices();
  try {
    const ids = await recent();
    const [status, ...rows] = await service.calls([["pawl.status", []], ...ids.map((id) => /** @type {[string, any[]]} */ (["pawl.show", [id]]))]);
    if (status instanceof Error) throw status;
    say("");
    at("downloads").replaceChildren(...rows.filter((row) => row && !(row instanceof Error)).map(rowElement));
    at("summary").textContent = text("summary", String(status.running), String(status.waiting), `${size(status.speed)}/s`);
  } catch (problem) {
    say(problem);
  }
}

await show();
setInterval(() => at("paired").hidden || show(), 1000);
