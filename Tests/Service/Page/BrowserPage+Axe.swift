import PawlBase
import PawlTestKit

extension BrowserPage {
    /// Sets a field as a user who types does.
    func fill(_ selector: String, _ value: String) async throws {
        try await wait("document.querySelector(\(JSON.string(selector).text))")
        try await evaluate(
            """
            (() => {
              const field = document.querySelector(\(JSON.string(selector).text));
              field.value = \(JSON.string(value).text);
              field.dispatchEvent(new Event("input", { bubbles: true }));
            })()
            """)
    }

    /// Opens the context menu of a row.
    func contextMenu(of name: String) async throws {
        try await wait(PageBench.isShown(name))
        try await evaluate(
            """
            (() => {
              const row = \(PageBench.row(name));
              const box = row.getBoundingClientRect();
              row.dispatchEvent(new MouseEvent("contextmenu", {
                bubbles: true, cancelable: true, button: 2, clientX: box.x + 120, clientY: box.y + 10,
              }));
            })()
            """)
        try await wait("document.querySelector('.popup')")
    }

    private static let axe = Result {
        let script = Checkout.root + "/Scripts/fetch-axe"
        let path = try PawlProcess.run(script, []).output.split(separator: "\n").last.map(String.init) ?? ""
        guard let axe = FileSystem.contents(path) else { throw SetupFailure("\(script) made no \(path)") }
        return String(decoding: axe, as: UTF8.self)
    }

    /// The rules of axe-core that the displayed page violates, with the elements; the script comes with a package of PyPI.
    func violations() async throws -> [String] {
        try await settle()
        if try await evaluate("typeof axe") != "object" { try await evaluate(BrowserPage.axe.get() + ";0") }
        return try await evaluate(
            """
            axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap((rule) =>
              rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.html.slice(0, 120)}`)))
            """
        ).array?.compactMap(\.string) ?? []
    }

    /// The list fits its columns to a new width in the next frame, and transitions end.
    private func settle() async throws {
        try await wait(
            """
            document.getAnimations().every((one) => one.playState !== "running"
              || one.effect?.getComputedTiming().iterations === Infinity)
            """)
        _ = try await evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    }

    /// Texts that do not fit into their place; names and notes may end in an ellipsis.
    func clippedTexts() async throws -> [String] {
        try await settle()
        return try await evaluate(
            """
            [...document.querySelectorAll(".row:not([hidden]) .cell, .head button, .filter-name, .tools button, .gauge-speed,"
              + ".detail button, .detail dt, dialog button:not(.week-cell), dialog label, dialog h2, dialog dt, .popup-text")]
              .filter((element) => element.checkVisibility() && !element.matches(".cell-name, .cell-info, .cell-toggle")
                && (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0))
              .map((element) => `${element.className}: ${element.textContent}`)
            """
        ).array?.compactMap(\.string) ?? []
    }
}
