import { awaitedBy, causeOf, isForbidden, isOfStore } from "./queue.js";

const plural = new Intl.PluralRules("en");
/** @param {number} count @param {string} one @param {string} other */
const several = (count, one, other) => `${count.toLocaleString("en")} ${plural.select(count) === "one" ? one : other}`;

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** What helps on this page, by the codes of failures. @type {Record<number, string>} */
const remedies = {
  2: "retry later", 3: "check the URL", 5: "retry, or use another URL", 6: "retry later",
  8: "use another URL of the same file, or start over", 9: "free some disk space, then retry",
  11: "pause the other download of this file", 13: "rename the download", 14: "rename the download", 15: "check the permissions", 16: "check the permissions, or choose another folder", 17: "check the disk, then retry",
  18: "choose another folder",
  19: "check the host name", 22: "check the URL", 23: "check the URL", 24: "sign in with a user name and password",
  28: "edit the download", 29: "retry later", 32: "check the checksum, or retry to download again", 33: "check the URL", 34: "update Pawl",
};

/** What the user can do for a download that waits and continues by itself. @type {Record<string, string>} */
const waitRemedies = {
  space: "free some disk space", files: "remove some files", quota: "remove some files, or have the quota raised", writing: "mount the file system writable",
  folder: "mount its disk again, or put the folder back",
};

/** @param {import("./queue.js").Failure} failure */
const remedyOf = (failure) =>
  waitRemedies[awaitedBy(failure) ?? ""]
  ?? (isForbidden(failure) ? remedyOfForbidden : (isOfStore(failure) ? storeRemedies : remedies)[failure.code ?? 0]);

const remedyOfForbidden = "the URL may have expired, or requires a login";

/** Why downloads wait for their disk, and until when. @type {Record<string, [string, string]>} */
const diskWaits = {
  space: ["The disk has no room", "when it has"], files: ["The disk can have no more files", "when it can"],
  quota: ["The disk quota is used up", "when it has room"], writing: ["The disk is read-only", "when it is writable"],
  folder: ["A folder is not there", "when it is back"],
};

/** The same for object stores. @type {Record<number, string>} */
const storeRemedies = { 3: "check the bucket and the key", 24: "check the access key of the service" };

export const english = {
  language: "Language",
  languageNames: { auto: "Browser default", en: "English", zh: "简体中文" },
  theme: "Appearance",
  themes: { auto: "System default", light: "Light", dark: "Dark" },
  skipToList: "Skip to the list",
  menu: "Menu",
  filters: "Filters",
  downloads: "Downloads",
  details: "Details",
  actions: "Actions",
  search: "Search name or URL",
  searchHint: "Search",
  sortBy: "Sort by",
  ok: "OK",
  cancel: "Cancel",
  close: "Close",
  undo: "Undo",
  add: "Add",
  save: "Save",
  saveAndRetry: "Save and retry",
  done: "Done",
  show: "Show",
  addDownloads: "Add downloads",
  notConnected: "The service does not respond. Nothing was changed.",

  parts: {
    all: "All", running: "Running", waiting: "Queued", paused: "Paused", finished: "Finished", failed: "Failed",
  },
  groups: "Groups",
  states: /** @type {Record<string, string>} */ ({
    waiting: "Queued", held: "Group paused", crowded: "Waiting for host", probing: "Connecting", transferring: "Downloading", waitingForNetwork: "Waiting for network",
    waitingForDisk: "Waiting for disk",
    verifying: "Verifying", publishing: "Finishing", paused: "Paused", preempted: "Queued",
    finished: "Finished", failed: "Failed", removed: "Removed",
  }),
  retrying: (/** @type {string} */ span) => `Retrying in ${span}`,
  retryOf: (/** @type {string} */ text, /** @type {string} */ reason, /** @type {number} */ attempt, /** @type {number} */ limit) =>
    `${text} (${[reason, limit < 1_000_000 ? `${attempt} of ${limit}` : `try ${attempt}`].filter(Boolean).join(", ")})`,
  waitingFor: (/** @type {string} */ host) => `Waiting for ${host}`,
  hostAllowed: (/** @type {string} */ host, /** @type {number} */ count, /** @type {string} */ time) =>
    `${host} allowed ${count} ${count === 1 ? "connection" : "connections"} at ${time}; "pawl hosts --forget ${host}" forgets it`,
  hostWaits: (/** @type {string} */ host, /** @type {string} */ span) => `${host} requested a wait: ${span} left`,
  leftIn: (/** @type {string} */ span) => `${span} left`,
  filesOf: (/** @type {string} */ name) => `Files of ${name}`,
  filesDone: (/** @type {string} */ done, /** @type {string} */ listed, /** @type {boolean} */ isListed) =>
    `${done} of ${listed}${isListed ? "" : " or more"} files`,
  filesFailed: (/** @type {string} */ count) => `${count} failed`,
  detailsOf: (/** @type {string} */ name) => `Details of ${name}`,
  columns: /** @type {Record<string, string>} */ ({
    toggle: "Pause or resume", info: "Details", mean: "Mean speed", ended: "Finished at", name: "Name", progress: "Progress", state: "State", size: "Size", speed: "Speed",
    left: "Time left", connections: "Connections", added: "Added",
  }),
  orders: /** @type {Record<string, string>} */ ({
    queue: "Queue", name: "Name", progress: "Progress", size: "Size", speed: "Speed", timeLeft: "Time left",
    connections: "Connections", state: "State", added: "Added", ended: "Finished at", mean: "Mean speed",
  }),
  toggles: /** @type {Record<string, (name: string) => string>} */ ({
    download: (name) => `Download ${name}`,
    retry: (name) => `Retry ${name}`,
    pause: (name) => `Pause ${name}`,
    continue: (name) => `Resume ${name}`,
    done: (name) => `${name} is finished`,
  }),
  progress: "Progress",
  of: (/** @type {string} */ part, /** @type {string} */ whole) => `${part} of ${whole}`,
  ofAtLeast: (/** @type {string} */ part, /** @type {string} */ whole) => `${part} of at least ${whole}`,
  smoothed: (/** @type {string} */ speed) => `Ten-second average: ${speed}`,

  /** Failures and decisions, which the service sends in English. */
  failure: (/** @type {import("./queue.js").Failure} */ failure) => failure.message,
  reason: (/** @type {import("./queue.js").Failure} */ failure) =>
    capital([causeOf(failure), remedyOf(failure)].filter(Boolean).join("; ")),
  /** Below the field that it is about. */
  refusal: (/** @type {import("./queue.js").Failure} */ failure) => failure.message,
  cause: (/** @type {import("./queue.js").Failure} */ failure) => capital(causeOf(failure)),
  localized: (/** @type {import("./queue.js").LocalizableMessage} */ message) => message.message,

  whole: /** @type {Record<string, (group: string | null) => string>} */ ({
    pause: (group) => (group === null ? "Pause all" : `Pause ${group}`),
    continue: (group) => (group === null ? "Resume all" : `Resume ${group}`),
  }),
  toolbar: {
    resume: "Resume", pause: "Pause", retry: "Retry", tryNow: "Try now", force: "Start now", moveUp: "Move up", moveDown: "Move down",
    first: "Move to top", last: "Move to bottom", rename: "Rename…", replaceURL: "Replace URL…",
    changeFolder: "Change folder…", startOver: "Start over",
    copyURL: "Copy URL", open: "Open file", save: "Save a copy", remove: "Remove, keep file", removeMenu: "Remove", more: "More",
    signIn: "Sign in…", edit: "Edit…", check: "Check now",
    removeFile: "Remove and delete file", raise: "Raise priority", lower: "Lower priority", details: "Details",
    choosing: "Select",
  },
  checkingFile: (/** @type {string} */ name) => `Checking ${name} …`,
  checkedPieces: (/** @type {number} */ count, /** @type {number} */ wrong) => (wrong > 0 ? `${wrong} of ${count} pieces wrong` : `${count} pieces`),
  fileIsRight: (/** @type {string} */ name, /** @type {string} */ compared) => `${name} is correct, compared with ${compared}`,
  fileIsWrong: (/** @type {string} */ name, /** @type {string} */ compared) => `${name} is wrong, compared with ${compared}`,
  repairFile: "Repair",
  removeDiscarding: (/** @type {string} */ size) => `Remove and discard ${size} received`,
  removeDiscardingKeeping: (/** @type {string} */ size) => `Remove, keep finished files, discard ${size} received`,
  removeQuestion: (/** @type {number} */ count) => `Remove ${several(count, "download", "downloads")}?`,
  startOverQuestion: (/** @type {string} */ name) => `Start ${name} over?`,
  discards: (/** @type {string} */ size, /** @type {string | null} */ name) =>
    name === null ? `The ${size} received of unfinished downloads will be discarded.` : `The ${size} received of ${name} will be discarded.`,
  chosen: (/** @type {number} */ count) => `${count.toLocaleString("en")} selected`,
  removed: (/** @type {string} */ name) => `Removed ${name}`,
  removedMany: (/** @type {number} */ count) => `Removed ${several(count, "download", "downloads")}`,
  tooLate: "Too late to undo: already removed.",
  copied: (/** @type {number} */ count) => `Copied ${several(count, "URL", "URLs")}`,
  cannotCopy: "This browser does not allow the page to copy.",
  rename: "Rename",
  newName: "New name",
  replaceURL: "Replace URL",
  newURL: "New URL",
  url: "URL",
  renameFailure: (/** @type {import("./queue.js").Failure} */ failure) =>
    ({ 13: "A file of that name exists. Choose another name.", 28: "Not a file name: use 1 to 255 bytes without a slash." })[failure.code ?? 0]
    ?? capital(failure.message),
  replaceURLHint: "Downloaded data is kept if the new URL has the same content.",

  emptyTitle: "No downloads yet",
  emptyText: "Paste a URL anywhere, drop a link or a list of links, or press N.",
  emptyTextTouch: "Tap Add downloads and paste a URL.",
  noneTitle: "No results",
  noneText: "No download matches.",
  showAll: "Show all",

  urls: "URLs",
  urlsHint: "One per line: http, https, ftp, ftps, sftp or s3. [001-100] is expanded.",
  urlCount: (/** @type {number} */ count) => several(count, "URL", "URLs"),
  restoreDraft: "Restore what you entered before",
  noURL: "No URL found. URLs start with http://, https://, ftp://, ftps://, sftp:// or s3://.",
  unsupportedScheme: (/** @type {string} */ schemes) => `Links of the type ${schemes} are not supported. Supported: http, https, ftp, ftps, sftp, s3.`,
  notAnAddress: (/** @type {string} */ text) => `Not a URL: ${text}`,
  tooManyExpanded: "The pattern expands to more than 1,000 URLs.",
  fromTo: (/** @type {string} */ first, /** @type {string} */ last) => `${first} … ${last}`,
  check: "Check",
  checking: (/** @type {string} */ url) => `Checking ${url} …`,
  sizeUnknown: "size unknown",
  rangesServed: "can be resumed",
  rangesRefused: "cannot be resumed",
  rangesUnknown: "the server does not say whether it can be resumed",
  othersNotChecked: (/** @type {number} */ count) => `${several(count, "other was", "others were")} not checked.`,
  known: (/** @type {string} */ name) => `Already in the queue: ${name}`,
  knownFinished: (/** @type {string} */ name) => `Already downloaded: ${name}`,
  knownMany: (/** @type {number} */ count) => `${several(count, "download was", "downloads were")} already in the queue`,
  editDownload: (/** @type {string} */ name) => `Edit ${name}`,
  unchanged: "unchanged",
  valueMissing: "Enter a value.",
  badNumber: (/** @type {string} */ least, /** @type {string} */ most) =>
    least && most ? `Enter a whole number from ${least} to ${most}.` : least ? `Enter a whole number, at least ${least}.` : "Enter a whole number.",
  badHeader: (/** @type {string} */ line) => `Not a header field (Name: value): ${line}`,
  signInTo: (/** @type {string} */ host) => `Sign in to ${host}`,
  signInHint: "The service keeps the user name and password for this download.",
  cannotMove: "The list is sorted. Downloads can be moved in queue order.",
  start: "Start",
  inTurn: "Queue",
  atOnce: "Start now",
  asPaused: "Paused",
  folder: "Folder",
  folderHint: "Inside the download folder; empty for the folder itself",
  name: "Name",
  nameHint: "Leave empty to use the server's name",
  group: "Group",
  priority: "Priority",
  priorityHint: "Higher starts first",
  moreOptions: "More options",
  connections: "Connections",
  automatic: "automatic",
  limit: "Speed limit",
  noLimit: "none",
  rateHint: "Bytes per second: 500K, 1.5M",
  badRate: "Invalid speed limit. Use a value such as 500K or 1.5M, or leave it empty for none.",
  checksum: "Checksum",
  checksumHint: "TYPE=HEX or TYPE:HEX, or the digits alone, where TYPE is sha-256, sha-512, sha-384, sha-224, blake2b, sha3-256, sha3-512, sha3-384, sha3-224, sha-512-256, blake2s, sm3, sha-1, git-blob, md5, crc64nvme, crc32c, crc32 or adler32",
  headers: "Request headers",
  headersHint: "One per line, Name: value",
  mirrors: "Mirrors",
  mirrorsHint: "Other URLs of the same file, one per line",
  user: "User name",
  password: "Password",
  referer: "Referer",
  agent: "User agent",
  added: (/** @type {number} */ count) => `Added ${several(count, "download", "downloads")}`,

  bounds: "Speed and limits",
  speedLimit: "Speed limit of all downloads",
  presets: "Presets",
  slots: "Simultaneous downloads",
  totalChart: (/** @type {string} */ now, /** @type {string} */ most, /** @type {boolean} */ isHour) =>
    `Now ${now}, peak ${most} in the last ${isHour ? "hour" : "five minutes"}`,
  span: "Time span",
  lastMinutes: "5 minutes",
  lastHour: "1 hour",
  hasSchedule: "A schedule sets the speed limit.",
  hasNoSchedule: "No schedule.",
  editSchedule: "Schedule…",
  schedule: "Schedule of the speed limit",
  scheduleRate: "Limit",
  scheduleHint: "Press or drag over hours to set this limit, and again to remove it.",
  scheduleUnclear: "The text is not a schedule.",
  scheduleWithinHours: "The schedule has times within an hour, which only the text shows.",
  asText: "As text",
  dayAndHour: "Day and hour",
  days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
  cellText: (/** @type {string} */ day, /** @type {string} */ time, /** @type {string} */ limit) => `${day} ${time}: ${limit}`,

  serviceSettings: "Settings",
  settingsDownloads: "Downloads",
  settingsSpeed: "Speed",
  settingsNetwork: "Network",
  settingsHint: "All but the number of simultaneous downloads apply to downloads that are added later.",
  perFile: "Per file",
  existing: "If the file exists",
  existingChoices: { rename: "Use another name", resume: "Resume or skip it", overwrite: "Overwrite it", skip: "Skip the download", fail: "Fail" },
  retries: "Retries",
  retriesHint: "Without progress, before a download fails",
  timeout: "Timeout in seconds",
  timeoutHint: "Without any data, before a connection is dropped",
  limitOfEach: "Speed limit of each download",
  proxy: "Proxy",
  proxyHint: "http, https or socks5, for example socks5://host:1080",
  noProxy: "No proxy for",
  noProxyHint: "Hosts, separated by commas",
  fromEnvironment: "from the environment",
  hooks: "Hooks",
  noHooks: "No hooks are set.",
  hooksHint: "Hooks run programs: they can only be set with the options of pawl serve.",
  hookNames: /** @type {Record<string, string>} */ ({ start: "Start", pause: "Pause", stop: "Removal", complete: "Completion", error: "Failure", webhook: "Webhook" }),

  clearFinished: "Clear finished",
  exportQueue: "Export the queue",
  importQueue: "Import a queue…",
  notAQueue: (/** @type {string} */ name) => `${name} is not an exported queue.`,
  imported: (/** @type {number} */ added, /** @type {number} */ known) =>
    `Imported ${several(added, "download", "downloads")}${known > 0 ? `; ${known.toLocaleString("en")} already in the queue` : ""}`,
  chooseColumns: "Columns",
  density: "Density",
  densities: { comfortable: "Comfortable", compact: "Compact" },
  notify: "Notify when downloads finish or fail",
  notifyNeedsSecure: "Notifications need HTTPS, or a page of this machine.",
  notifyDenied: "The browser does not allow notifications.",
  finishedOne: (/** @type {string} */ name) => `Finished: ${name}`,
  failedOne: (/** @type {string} */ name) => `Failed: ${name}`,
  endedMany: (/** @type {number} */ finished, /** @type {number} */ failed) =>
    [finished > 0 && `${several(finished, "download", "downloads")} finished`, failed > 0 && `${failed.toLocaleString("en")} failed`].filter(Boolean).join(", "),
  bookmarklet: "Download with Pawl",
  bookmarkletHint: "Drag this to the bookmarks bar. A click on it opens Pawl with the URL of the page you are on.",

  timetable: "Schedule",
  timetableHint: "Example: Mon-Fri 08:00-18:00 1M, else none. The schedule changes the speed limit at these times.",
  apply: "Apply",
  limited: (/** @type {string} */ speed) => `limit ${speed}`,
  unlimited: "no limit",
  running: (/** @type {number} */ count) => `${count.toLocaleString("en")} running`,
  speedOfAll: (/** @type {string} */ speed) => `Total speed: ${speed}. Change limits.`,
  free: (/** @type {string} */ size) => `${size} free`,

  serviceGone: "The service does not respond.",
  tryingIn: (/** @type {number} */ seconds) => `Retrying in ${seconds} s.`,
  trying: "Retrying…",
  tryNow: "Retry now",
  networkGone: (/** @type {number} */ count) =>
    `No network connection. ${several(count, "download", "downloads")} will resume when it is back.`,
  /** `awaited`: what all of them wait for, if it is the same. */
  diskWaits: (/** @type {number} */ count, /** @type {string | undefined} */ awaited) => {
    const [why, until] = diskWaits[awaited ?? ""] ?? ["Not every disk can be written", "when theirs can"];
    return `${why}. ${several(count, "download", "downloads")} will resume ${until}.`;
  },
  diskLow: (/** @type {string} */ size) => `Low disk space: ${size} free.`,

  login: "Log in to Pawl",
  loginText: "The secret is in the file .pawl/secret in the download folder. Or run pawl web in a terminal to open this page logged in.",
  secret: "Secret",
  unlock: "Log in",
  wrongSecret: "Wrong secret.",
  codeIsStale: "This link was used before or has expired. Run pawl web again, or enter the secret.",
  logOut: "Log out all browsers",
  help: "Keyboard shortcuts",

  detail: {
    overview: "Overview", segments: "Segments", lanes: "Connections", chart: "Speed", log: "Activity", technical: "Technical details",
    sources: "Sources", response: "Server response", requestHeaders: "Request headers", preview: "Preview",
  },
  segmentText: (/** @type {string} */ part, /** @type {string} */ whole, /** @type {number} */ ranges) =>
    `${part} of ${whole} on disk${ranges > 1 ? `, in ${several(ranges, "range", "ranges")}` : ""}`,
  segmentUnknown: (/** @type {string} */ part) => `${part} on disk, total size unknown`,
  chartText: (/** @type {string} */ now, /** @type {string} */ most) => `Now ${now}, at most ${most} in five minutes`,
  noLanes: "No open connections.",
  moreLanes: (/** @type {number} */ count) => `and ${count.toLocaleString("en")} more`,
  laneWaits: "waiting for a response",
  laneAt: (/** @type {string} */ offset) => `at ${offset}`,
  noLog: "No activity since the service started.",
  openImage: "Open image",
  videoOf: (/** @type {string} */ name) => `Video: ${name}`,
  audioOf: (/** @type {string} */ name) => `Audio: ${name}`,
  cannotPlay: "This browser cannot play the file.",
  fileMissing: "The file was moved or deleted. Retry to download it again.",
  fileChanged: "Another file has its name, or it was changed. It is left alone; retry to download it again.",
  /** @type {Record<string, string>} */
  verified: {
    given: "by the given checksum", signed: "by a signed sums file", origin: "by the server's digest", sidecar: "by a sums file",
    weak: "weak",
  },
  shield: (/** @type {string} */ level, /** @type {string | false} */ weak) => `Verified ${level}${weak ? `, weak algorithm ${weak}` : ""}`,
  facts: {
    url: "URL", path: "File", size: "Size", received: "Received", smoothed: "Average speed", type: "Type",
    group: "Group", priority: "Priority", description: "Note", added: "Added", started: "Started", ended: "Finished at", failed: "Failed at",
    took: "Duration", left: "Time left", checksum: "Checksum", verified: "Verified", limit: "Speed limit", id: "ID",
  },
  responseFacts: {
    status: "Status", contentType: "Content-Type", contentLength: "Content-Length", entityTag: "ETag",
    lastModified: "Last-Modified", contentDisposition: "Content-Disposition",
  },
  checksumStates: { none: "Not set", pending: "Verified when complete", checking: "Verifying…", right: "Matches", wrong: "Does not match" },
  events: /** @type {Record<string, string>} */ ({
    added: "Added", started: "Started", notice: "Decision", retry: "Retrying", finished: "Finished", failed: "Failed", state: "State",
  }),
  startedAt: (/** @type {string} */ offset) => `Resumed at ${offset}`,
  startedFresh: "From the beginning",
  retryIn: (/** @type {string} */ span) => `; next attempt in ${span}`,
  finishedIn: (/** @type {string} */ size, /** @type {string} */ span) => `${size} received in ${span}`,
  wasThere: "Already complete; nothing was transferred",

  keys: {
    list: "List", moving: "Queue", one: "Download", page: "Page",
    next: "Next, previous", page_: "Page down, up", ends: "First, last", extend: "Extend selection",
    all: "Select all", toggle: "Pause or resume", open: "Details", force: "Start now", remove: "Remove, keep file",
    removeFile: "Remove and delete file", undo: "Undo removal", up: "Move up, down", edge: "Move to top, bottom",
    rename: "Rename", edit: "Edit", url: "Replace URL", copy: "Copy URL", file: "Open file", raise: "Raise, lower priority", whole: "Pause or resume all, or the current group",
    add: "Add downloads", paste: "Add URLs from the clipboard", search: "Search", filter: "All, running, queued, paused, finished, failed",
    settings: "Settings", limits: "Limits", menu: "Menu", help: "This help", escape: "Close, clear selection",
  },
};
