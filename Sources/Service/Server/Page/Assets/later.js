// Everything that the list does without: dialogs, the parts of the details, notifications.

import { openAdding } from "./adding.js";
import { intake } from "./addresses.js";
import { ask, confirm } from "./asking.js";
import { openEditing, openSignIn } from "./editing.js";
import { Facts } from "./facts.js";
import { openHelp } from "./help.js";
import { openLimits } from "./limits.js";
import { Log } from "./log.js";
import { openMenu } from "./menu.js";
import { notifyOf } from "./notifications.js";
import { Preview } from "./preview.js";
import { Segments } from "./segments.js";
import { openServiceSettings } from "./serviceSettings.js";

/** The sections of the details. @param {import("./actions.js").Actions} actions */
const detailParts = (actions) => [new Preview(), new Segments(), new Facts(actions), new Log()];

export const later = {
  ask, confirm, detailParts, intake, notifyOf, openAdding, openEditing, openHelp, openLimits, openMenu, openServiceSettings, openSignIn,
};
