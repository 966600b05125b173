// The dialog of the speed: its history, the limit, and the number of simultaneous downloads.

import { field, openDialog, problemOf, setProblem, showProblems } from "./asking.js";
import { drawSpeeds } from "./chart.js";
import { make } from "./dom.js";
import * as format from "./format.js";
import { textOf, words } from "./words.js";

/** @typedef {{limit?: number | null, slots?: number, timetable?: string | null}} Limits */

const presets = [null, 256 << 10, 1 << 20, 5 << 20, 20 << 20];

/** @param {import("./actions.js").Actions} actions @param {() => void} openSchedule */
export function openLimits(actions, openSchedule) {
  const { queue } = actions;
  const { limit, slots, timetable } = queue.status;
  const shown = { limit, slots };
  const rate = make("input", { id: "bounds-rate", value: format.rateText(limit), placeholder: words.noLimit, autocomplete: "off" });
  const atOnce = make("input", { id: "bounds-slots", type: "number", min: 1, max: 1000, required: true, value: slots ?? 3 });
  const chart = make("canvas", { class: "chart chart-large", role: "img" });
  const chartText = make("p", { class: "hint" });
  let isHour = false;
  const draw = () => {
    const values = isHour ? queue.tens : queue.speeds;
    const text = words.totalChart(format.speed(queue.speed), format.speed(Math.max(0, ...values)), isHour);
    chart.setAttribute("aria-label", text);
    chartText.textContent = text;
    drawSpeeds(chart, values, { step: isHour ? 10 : 1, span: isHour ? 3600 : 300 });
  };
  const spans = [false, true].map((isLong) => {
    const input = make("input", { type: "radio", name: "span", value: isLong ? "hour" : "minutes", checked: !isLong });
    input.addEventListener("change", () => {
      isHour = isLong;
      draw();
    });
    return make("label", {}, input, isLong ? words.lastHour : words.lastMinutes);
  });
  const dialog = openDialog({
    title: words.bounds,
    class: "bounds",
    content: [
      chart,
      chartText,
      make("fieldset", { class: "choices" }, make("legend", { class: "unseen" }, words.span), spans),
      field(words.speedLimit, rate, words.rateHint),
      make(
        "div",
        { class: "presets", role: "group", "aria-label": words.presets },
        presets.map((preset) =>
          make(
            "button",
            { type: "button", onclick: () => (rate.value = format.rateText(preset)) },
            preset === null ? words.unlimited : format.speed(preset),
          ),
        ),
      ),
      field(words.slots, atOnce),
      make(
        "p",
        { class: "count-line" },
        make("span", { class: "hint" }, timetable ? words.hasSchedule : words.hasNoSchedule),
        make("button", { type: "button", class: "small", onclick: () => (dialog.close(), openSchedule()) }, words.editSchedule),
      ),
    ],
    buttons: [
      make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
      make("button", { type: "submit", class: "primary" }, words.apply),
    ],
    onsubmit: async (event) => {
      event.preventDefault();
      const chosen = format.parseRate(rate.value);
      if (!showProblems([[rate, chosen === undefined ? words.badRate : ""], [atOnce, problemOf(atOnce)]])) return;
      if (await applyLimits(actions, shown, { limit: chosen, slots: atOnce.valueAsNumber }, { limit: rate, slots: atOnce })) dialog.close();
    },
  });
  queue.addEventListener("tick", draw);
  dialog.addEventListener("close", () => queue.removeEventListener("tick", draw));
  draw();
  rate.focus();
}

/**
 * Sends what differs from what was shown: setting the same schedule again would reset the limit. A refusal is shown below its
 * field.
 * @param {import("./actions.js").Actions} actions
 * @param {Limits} shown
 * @param {Limits} chosen
 * @param {Record<string, HTMLElement>} fields
 */
export async function applyLimits(actions, shown, chosen, fields) {
  for (const name of /** @type {const} */ (["timetable", "limit", "slots"])) {
    const value = chosen[name];
    if (value === undefined || value === (shown[name] ?? null)) continue;
    try {
      await actions.connection.call(`pawl.${name}`, value);
      Object.assign(shown, { [name]: value });
    } catch (error) {
      setProblem(fields[name], textOf(error, words.refusal));
      const more = fields[name].closest("details");
      if (more) more.open = true;
      fields[name].focus();
      return false;
    }
  }
  return true;
}
