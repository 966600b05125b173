// Who is not known shows the secret, or came by a link with a code that is good once.

import { at, make } from "./dom.js";
import { words } from "./words.js";

/** Whether the service took the secret or the code. @param {string} word */
async function show(word) {
  return (await fetch("/login", { method: "POST", body: word })).ok;
}

/** How long the service may take to say whom it knows. */
const patience = 4000;

/**
 * Whether the service knows this browser; null when it does not answer.
 * @returns {Promise<"known" | "unauthorized" | null>}
 */
export async function whoAmI() {
  const answer = await fetch("/session", { signal: AbortSignal.timeout(patience) }).catch(() => null);
  return answer?.ok ? /** @type {any} */ (await answer.text().catch(() => null)) : null;
}

/**
 * Uses the code of a link (`#code=…`) and takes it out of the address and the history.
 * @returns {Promise<"none" | "used" | "stale">}
 */
export async function useCode() {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!code) return "none";
  history.replaceState(null, "", location.pathname);
  return (await show(code).catch(() => false)) ? "used" : "stale";
}

/** Asks for the secret. @param {boolean} isStale a code was not good any more @param {() => void} onknown */
export function openLogin(isStale, onknown) {
  const form = at("login");
  const secret = make("input", { id: "secret", type: "password", autocomplete: "current-password", required: true });
  const problem = make("p", { class: "problem", role: "alert" }, isStale ? words.codeIsStale : "");
  const button = make("button", { type: "submit", class: "primary" }, words.unlock);
  form.replaceChildren(
    make("img", { src: "icon.svg", alt: "", width: 56, height: 56 }),
    make("h2", {}, words.login),
    make("p", { class: "login-text" }, words.loginText),
    // Programs that keep passwords want a name beside them.
    make("input", { type: "text", autocomplete: "username", value: "pawl", hidden: true }),
    make("div", { class: "field" }, make("label", { for: "secret" }, words.secret), secret),
    problem,
    button,
  );
  form.onsubmit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    button.disabled = true;
    const isKnown = await show(secret.value.trim()).catch(() => null);
    button.disabled = false;
    if (isKnown) {
      form.replaceChildren();
      onknown();
    } else {
      problem.textContent = isKnown === null ? words.serviceGone : words.wrongSecret;
      secret.select();
    }
  };
  secret.focus();
}

export async function logOut() {
  await fetch("/logout", { method: "POST" });
  location.reload();
}
