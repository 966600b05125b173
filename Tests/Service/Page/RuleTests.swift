import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Where downloads go, when they start, and what happens at the end.
    @Suite struct RuleTests {
        private static let dialog = "document.querySelector('.service-settings')"

        private func openSettings(_ page: BrowserPage) async throws {
            try await page.focusList()
            try await page.press(",")
            try await page.wait(Self.dialog)
        }

        private func save(_ page: BrowserPage) async throws {
            try await page.click(".dialog .primary")
            try await page.wait("!document.querySelector('dialog')")
        }

        /// Sets a field of a rule, counted from 1, as a user does.
        private func fill(_ page: BrowserPage, rule: Int, _ selector: String, _ value: String) async throws {
            try await page.evaluate(
                """
                (() => {
                  const field = document.querySelectorAll(".rule")[\(rule - 1)].querySelector("\(selector)");
                  field.value = \(JSON.string(value).text);
                  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
                })()
                """)
        }

        @Test func `rules are added, tried, ordered, changed and removed`() async throws {
            try await PageBench.with { bench in
                _ = try await bench.call("pawl.setRules", [[["match": "*.iso", "folder": "Images"]]])
                let page = try await bench.page()
                try await openSettings(page)
                #expect(
                    try await page.evaluate("document.querySelector('.rule input:not([hidden])').value") == "*.iso")
                try await page.click(".rules-box > button")
                try await fill(page, rule: 2, "[id$=type]", "disk")
                try await page.click(".dialog .primary")
                let problem = "[...document.querySelectorAll('.rule .problem')].map((one) => one.textContent).join('')"
                try await page.wait("\(problem) === 'Enter a value.'")
                try await fill(page, rule: 2, "[id$=folder]", "Disks")
                try await page.fill("#rules-url", "https://example.org/a/debian.iso")
                let result = "document.querySelector('#rules-result').textContent"
                try await page.wait("\(result) === 'Rule 1 fits: Images'")
                try await page.evaluate("document.querySelectorAll('[data-rule=up]')[1].click()")
                try await page.wait("\(result) === 'Rule 1 fits: Disks'")
                #expect(try await page.evaluate("document.querySelector('.rule').className") == "rule is-fitting")
                try await page.fill("#rules-url", "https://example.org/a.txt")
                try await page.wait("\(result) === 'No rule fits: the usual folder is used.'")
                try await save(page)
                let expected: JSON = [
                    ["match": "type:disk", "folder": "Disks"], ["match": "name:*.iso", "folder": "Images"],
                ]
                #expect(try await bench.call("pawl.rules") == expected)

                try await openSettings(page)
                try await fill(page, rule: 2, "select", "host")
                try await fill(page, rule: 2, "[id$=pattern]", "example.org")
                try await fill(page, rule: 2, "[id$=folder]", "../outside")
                try await page.click(".dialog .primary")
                try await page.wait("document.activeElement?.value === '../outside' && \(problem) !== ''")
                #expect(try await bench.call("pawl.rules") == expected, "a refused change changes nothing")
                try await fill(page, rule: 2, "[id$=folder]", "Mine")
                try await page.evaluate("document.querySelector('[data-rule=remove]').click()")
                try await save(page)
                #expect(try await bench.call("pawl.rules") == [["match": "host:example.org", "folder": "Mine"]])
            }
        }

        @Test func `what happens at the end is chosen where a program for it is given`() async throws {
            try await PageBench.with {
                $0.hooks.idle = "/usr/bin/true"
            } _: { bench in
                let page = try await bench.page()
                let chosen = "document.querySelector('[name=at-end]:checked').value"
                try await openSettings(page)
                #expect(try await page.evaluate(chosen) == "command")
                try await page.evaluate("document.querySelector('[name=at-end][value=nothing]').click()")
                try await save(page)
                #expect(try await bench.call("pawl.settings")["atEnd"] == "nothing")
                try await openSettings(page)
                #expect(try await page.evaluate(chosen) == "nothing")
                try await page.evaluate("document.querySelector('[name=at-end][value=command]').click()")
                try await save(page)
                #expect(try await bench.call("pawl.settings")["atEnd"] == "command")
            }
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await openSettings(page)
                #expect(
                    try await page.evaluate("document.querySelectorAll('[name=at-end]:disabled').length") == .number(2))
            }
        }

        @Test func `a start at a time is entered, shown, changed and removed`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await page.press("n")
                try await page.fill("#add-urls", bench.origin.url("/file.bin"))
                try await page.evaluate("document.querySelector('.dialog input[value=later]').click()")
                try await page.wait("document.activeElement.id === 'add-start-at'")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#add-start-at-problem').textContent !== ''")
                try await page.fill("#add-start-at", "2001-01-01T06:00")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#add-start-at').ariaInvalid === 'true'")
                try await page.fill("#add-start-at", "2096-12-01T06:00")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "file.bin", ".cell-state")) === 'Scheduled'")
                let note = PageBench.text(of: "file.bin", ".row-note")
                #expect(try await page.evaluate("\(note).startsWith('Starts at Dec 1, 2096')") == .bool(true))
                let id = try #require(try await bench.manager.downloads().first?.id)
                let expected = try await page.evaluate("new Date('2096-12-01T06:00').getTime() / 1000")
                #expect(try await bench.call("pawl.show", [.string(id.description)])["startAt"] == expected)

                try await page.click(".row .row-name")
                try await page.press("e")
                try await page.wait("document.querySelector('#edit-start-at')?.value === '2096-12-01T06:00'")
                try await page.fill("#edit-start-at", "2096-12-02T06:00")
                try await page.click(".dialog .primary")
                try await page.wait("\(note).startsWith('Starts at Dec 2, 2096')")
                try await page.press("e")
                try await page.fill("#edit-start-at", "")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "file.bin", ".cell-state")) === 'Paused'")
                #expect(try await bench.call("pawl.show", [.string(id.description)])["startAt"] == .null)
            }
        }

        @Test func `a pause is painted on the schedule, and a banner says that it pauses`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let text = "Mon-Fri 08:00-18:00 pause, else none"
                #expect(
                    try await page.evaluate(
                        "import('/schedule.js').then(({ cellsOf, textOf }) => textOf(cellsOf('\(text)').cells))")
                        == .string(text))
                try await openSettings(page)
                try await page.evaluate("document.querySelector('[name=brush][value=pause]').click()")
                // Tuesday, at 8.
                try await page.evaluate("document.querySelector('[data-cell=\"32\"]').focus()")
                try await page.press("Enter")
                try await page.wait(
                    "document.querySelector('#bounds-times').value === 'Tue 08:00-09:00 pause, else none'")
                #expect(
                    try await page.evaluate("document.querySelector('[data-cell=\"32\"]').ariaLabel")
                        == "Tue 08:00: Paused")
                try await page.fill("#bounds-times", "00:00-24:00 pause")
                try await save(page)
                let banner =
                    "[...document.querySelectorAll('.banner:not([hidden])')].map((one) => one.textContent).join('')"
                try await page.wait("\(banner) === 'The schedule pauses all downloads.'")
                try await openSettings(page)
                try await page.fill("#bounds-times", "")
                try await save(page)
                try await page.wait("\(banner) === ''")
            }
        }
    }
}
