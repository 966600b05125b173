// The dialog for global limits: speed, simultaneous downloads, and schedule.

import { field, openDialog } from "./asking.js";
import { drawSpeeds } from "./chart.js";
import { make } from "./dom.js";
import * as format from "./format.js";
import { words } from "./words.js";

const presets = [null, 256 << 10, 1 << 20, 5 << 20, 20 << 20];

/** @param {import("./actions.js").Actions} actions */
export function openLimits(actions) {
  const { queue } = actions;
  const { limit, slots, timetable } = queue.status;
  const rate = make("input", { id: "bounds-rate", value: format.rateText(limit), placeholder: words.noLimit, autocomplete: "off" });
  const atOnce = make("input", { id: "bounds-slots", type: "number", min: 1, max: 1000, required: true, value: slots ?? 3 });
  const times = make("input", { id: "bounds-times", value: timetable ?? "", autocomplete: "off", spellcheck: "false" });
  const problem = make("p", { class: "problem", role: "alert" });
  const chart = make("canvas", { class: "chart", "aria-hidden": "true" });
  const draw = () => drawSpeeds(chart, queue.speeds);
  const dialog = openDialog({
    title: words.bounds,
    class: "bounds",
    content: [
      chart,
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
      field(words.timetable, times, words.timetableHint),
      problem,
    ],
    buttons: [
      make("button", { type: "button", onclick: () => dialog.close() }, words.cancel),
      make("button", { type: "submit", class: "primary" }, words.apply),
    ],
    onsubmit: async (event) => {
      event.preventDefault();
      const chosen = format.parseRate(rate.value);
      if (chosen === undefined) {
        problem.textContent = words.badRate;
        return;
      }
      const done = await apply(actions, { limit: chosen, slots: atOnce.valueAsNumber, timetable: times.value.trim() || null });
      if (done) dialog.close();
    },
  });
  queue.addEventListener("tick", draw);
  dialog.addEventListener("close", () => queue.removeEventListener("tick", draw));
  draw();
  rate.focus();
}

/**
 * Sends only changes: setting the same schedule again would reset the limit.
 * @param {import("./actions.js").Actions} actions
 * @param {{limit: number | null, slots: number, timetable: string | null}} chosen
 */
async function apply(actions, chosen) {
  const { status } = actions.queue;
  const calls = [];
  if (chosen.timetable !== (status.timetable ?? null)) calls.push(["pawl.timetable", chosen.timetable]);
  if (chosen.limit !== (status.limit ?? null)) calls.push(["pawl.limit", chosen.limit]);
  if (chosen.slots !== status.slots) calls.push(["pawl.slots", chosen.slots]);
  for (const [method, value] of calls) {
    if ((await actions.call(/** @type {string} */ (method), value)) === undefined) return false;
  }
  return true;
}
