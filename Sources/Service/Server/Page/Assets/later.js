// Everything that the list does without: dialogs, the parts of the details, notifications.

import { openAdding } from "./adding.js";
import { handedOver, intake } from "./addresses.js";
import { ask, confirm } from "./asking.js";
import { openColumns } from "./columnMenu.js";
import { openConnect } from "./connect.js";
import { openEditing, openSignIn } from "./editing.js";
import { showEmptiness } from "./emptiness.js";
import { Facts } from "./facts.js";
import { openHelp } from "./help.js";
import { openLimits } from "./limits.js";
import { Log } from "./log.js";
import { openMenu } from "./menu.js";
import { notifyOf } from "./notifications.js";
import { Preview } from "./preview.js";
import { Segments } from "./segments.js";
import { openServiceSettings } from "./serviceSettings.js";
import { openTorrent } from "./torrent.js";

/** The sections of the details. @param {import("./actions.js").Actions} actions */
const detailParts = (actions) => [new Preview(), new Segments(), new Facts(actions), new Log()];

export const later = {
  ask, confirm, detailParts, handedOver, intake, notifyOf, openAdding, openColumns, openConnect, openEditing, openHelp, openLimits, openMenu, openServiceSettings,
  openSignIn, openTorrent, showEmptiness,
};
