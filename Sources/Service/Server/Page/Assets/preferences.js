// Settings stored in the browser.

/** @param {string} name */
export const setting = (name) => localStorage.getItem(`pawl.${name}`);

/** @param {string} name @param {string | null} value */
export function keep(name, value) {
  if (value === null) localStorage.removeItem(`pawl.${name}`);
  else localStorage.setItem(`pawl.${name}`, value);
}

export function useTheme() {
  const theme = setting("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function useDensity() {
  document.documentElement.dataset.density = setting("density") ?? "comfortable";
}
