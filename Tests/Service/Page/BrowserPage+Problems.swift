import PawlBase

extension BrowserPage {
    /// Accessibility problems of the displayed page: controls without a name, images without a text, duplicate
    /// ids, roles out of place, and texts with little contrast to their background (WCAG 2.2
    /// 1.1.1, 1.3.1, 1.4.3, 4.1.2).
    func problems() async throws -> [String] {
        try await evaluate(BrowserPage.examination).array?.compactMap(\.string) ?? []
    }

    private static let examination = """
        (() => {
          const problems = [];
          const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
            && !element.closest("[inert]");
          const all = [...document.querySelectorAll("body *")].filter(isShown);
          const tell = (what, element) => problems.push(`${what}: ${element.outerHTML.slice(0, 120)}`);

          const texts = (ids) => ids.split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
          const nameOf = (element) => (element.getAttribute("aria-label")
            ?? (element.hasAttribute("aria-labelledby") ? texts(element.getAttribute("aria-labelledby")) : null)
            ?? [...(element.labels ?? [])].map((label) => label.textContent).join(" ")).trim()
            || (element.matches("input, select, textarea, canvas, video, audio") ? "" : element.textContent.trim());
          const named = "button, a[href], input, select, textarea, canvas:not([aria-hidden]), video, audio, dialog, "
            + "[role=grid], [role=progressbar], [role=toolbar], [role=region], nav, aside";
          for (const element of all.filter((element) => element.matches(named))) {
            if (!nameOf(element)) tell("it has no name", element);
          }
          for (const image of all.filter((element) => element.matches("img:not([alt])"))) tell("it has no text", image);
          const ids = all.map((element) => element.id).filter(Boolean);
          for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) problems.push(`two are #${id}`);
          for (const row of document.querySelectorAll("[role=row]")) {
            if (!row.closest("[role=grid]")) tell("a row outside of a grid", row);
            for (const cell of row.children) {
              if (!/^(gridcell|columnheader|rowheader)$/.test(cell.getAttribute("role"))) tell("no cell", cell);
            }
          }
          const active = document.querySelector("[aria-activedescendant]")?.getAttribute("aria-activedescendant");
          if (active && !document.getElementById(active)) problems.push(`there is no #${active}`);
          if (!document.documentElement.lang) problems.push("the page has no language");

          const parse = (colour) => {
            const parts = colour.match(/[\\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
            const scale = colour.startsWith("color(") ? 255 : 1;
            return [...parts.slice(0, 3).map((part) => part * scale), parts[3] ?? 1];
          };
          const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
          const behind = (element) => {
            const layers = [];
            for (let at = element; at; at = at.parentElement) {
              const colour = parse(getComputedStyle(at).backgroundColor);
              layers.push(colour);
              if (colour[3] === 1) break;
            }
            return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
          };
          const light = ([red, green, blue]) => {
            const [r, g, b] = [red, green, blue].map((part) => part / 255)
              .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          for (const element of all) {
            const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
            if (!hasText || element.closest(":disabled")) continue;
            const below = behind(element);
            const style = getComputedStyle(element);
            const lights = [light(over(parse(style.color), below)), light(below)].sort((one, other) => other - one);
            const contrast = (lights[0] + 0.05) / (lights[1] + 0.05);
            const isLarge = parseFloat(style.fontSize) >= 24;
            if (contrast < (isLarge ? 3 : 4.5)) tell(`the contrast is ${contrast.toFixed(2)}`, element);
          }
          return problems;
        })()
        """
}
