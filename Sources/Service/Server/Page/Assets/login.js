// Login by the secret, or by a link with a single-use code.

import { at, make } from "./dom.js";
import { words } from "./words.js";

/** Whether the service accepted the secret or the code. @param {string} word */
async function show(word) {
  return (await fetch("/login", { method: "POST", body: word, signal: AbortSignal.timeout(loginPatience) })).ok;
}

/** The time in which the service must respond about the session, and to a secret, to which it responds late if it is wrong. */
const patience = 4000;
const loginPatience = 15_000;

/**
 * Whether this browser is logged in; null if the service does not respond.
 * @returns {Promise<"known" | "unauthorized" | null>}
 */
export async function whoAmI() {
  const response = await fetch("/session", { signal: AbortSignal.timeout(patience) }).catch(() => null);
  return response?.ok ? /** @type {any} */ (await response.text().catch(() => null)) : null;
}

/**
 * Uses the code of a link (`#code=…`) and removes it from the URL and the history.
 * @returns {Promise<"none" | "used" | "stale">}
 */
export async function useCode() {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!code) return "none";
  history.replaceState(null, "", location.pathname);
  return (await show(code).catch(() => false)) ? "used" : "stale";
}

/** Prompts for the secret. @param {boolean} isStale a code was used or has expired @param {() => void} onknown */
export function openLogin(isStale, onknown) {
  const form = at("login");
  const secret = make("input", { id: "secret", type: "password", autocomplete: "current-password", "aria-describedby": "secret-problem" });
  const problem = make("p", { class: "problem", id: "secret-problem", role: "alert" }, isStale ? words.codeIsStale : "");
  const button = make("button", { type: "submit", class: "primary" }, words.unlock);
  form.replaceChildren(
    make("img", { src: "icon.svg", alt: "", width: 56, height: 56 }),
    make("h1", {}, words.login),
    make("p", { class: "login-text" }, words.loginText),
    // Password managers expect a user name.
    make("input", { type: "text", autocomplete: "username", value: "pawl", hidden: true }),
    make("div", { class: "field" }, make("label", { for: "secret" }, words.secret), secret),
    problem,
    button,
  );
  form.onsubmit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (secret.value.trim() === "") {
      problem.textContent = words.valueMissing;
      return secret.focus();
    }
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
  await fetch("/logout", { method: "POST", signal: AbortSignal.timeout(patience) }).catch(() => null);
  location.reload();
}
