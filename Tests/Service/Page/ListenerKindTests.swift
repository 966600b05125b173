import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

@testable import PawlWeb

extension BrowserTests {
    /// Access to the page, and its behaviour when the service is gone.
    @Suite struct ListenerKindTests {
        @Test func `the secret lets in, another text does not`() async throws {
            try await PageBench.with { bench in
                let page = try await BrowserPage(bench.browser)
                try await page.open(bench.base)
                try await page.wait("document.activeElement?.id === 'secret'")
                try await page.type("wrong")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.login .problem').textContent === 'Wrong secret.'")
                try await page.type(bench.secret)
                try await page.press("Enter")
                try await page.wait("document.documentElement.dataset.view === 'list'")
                // Scripts cannot read the session cookie.
                #expect(try await page.evaluate("document.cookie") == "")
                let cookies = try await page.call("Network.getCookies")
                let cookie = try #require(cookies["cookies"]?.array?.first)
                #expect(cookie["httpOnly"] == .bool(true))
                #expect(cookie["sameSite"] == "Strict")
            }
        }

        @Test func `a link with a code lets in once, and leaves nothing in the address bar`() async throws {
            try await PageBench.with { bench in
                let response = try await bench.call("pawl.web")
                let link = try #require(response["url"]?.string)
                #expect(link.hasPrefix("\(bench.base)/#code="))
                let code = link.drop { $0 != "=" }.dropFirst()
                let page = try await BrowserPage(bench.browser)
                try await page.open(link)
                try await page.wait("document.documentElement.dataset.view === 'list'")
                #expect(try await page.evaluate("location.href") == .string("\(bench.base)/"))
                let history = try await page.call("Page.getNavigationHistory")
                let addresses = (history["entries"]?.array ?? []).compactMap { $0["url"]?.string }
                #expect(addresses.contains("\(bench.base)/"))
                #expect(!addresses.contains { $0.contains(code) })

                let other = try await BrowserPage(bench.browser)
                try await other.open(link)
                try await other.wait("document.querySelector('.login .problem')?.textContent.includes('used before')")
            }
        }

        @Test func `a link that is opened in a tab with the login lets in, too`() async throws {
            try await PageBench.with { bench in
                let page = try await BrowserPage(bench.browser)
                try await page.open(bench.base)
                try await page.wait("document.querySelector('#secret')")
                let link = try #require(try await bench.call("pawl.web")["url"]?.string)
                try await page.evaluate("void (location.hash = '\(link.drop { $0 != "#" })')")
                try await page.wait("document.documentElement.dataset.view === 'list'")
                #expect(try await page.evaluate("location.href") == .string("\(bench.base)/"))
            }
        }

        @Test func `the page stays connected when unauthenticated clients are disconnected`() async throws {
            try await PageBench.with {
                $0.limits.authenticationTimeout = 1
            } _: { bench in
                let page = try await bench.page()
                // Opened after the page's own, so it would be closed after it.
                let end = try await page.evaluate(
                    """
                    new Promise((resolve) => {
                      const unauthenticated = new WebSocket("ws://" + location.host + "/jsonrpc");
                      unauthenticated.onclose = () => resolve(document.body.classList.contains("is-offline") ? "lost" : "stays");
                    })
                    """)
                #expect(end == "stays")
            }
        }

        @Test func `logging out ends the sessions of all browsers`() async throws {
            try await PageBench.with { bench in
                let (one, other) = (try await bench.page(), try await bench.page())
                try await one.press("m")
                try await one.wait("document.querySelector('.menu-links')")
                try await one.evaluate("document.querySelector('.menu-links:last-of-type button').click()")
                try await one.wait("document.querySelector('#secret')")
                // The other one is notified, and cannot control anything any more.
                try await other.wait("document.querySelector('#secret')")
                try await other.wait("document.querySelector('#body').inert")
            }
        }

        @Test func `the page reports that the service is gone, and recovers with it`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(2)
                let page = try await bench.page()
                try await page.wait(PageBench.isShown("file-0.bin"))
                await bench.stopService()
                try await page.wait(
                    "document.querySelector('.banner:not([hidden])')?.textContent.includes('does not respond')")
                // An action meanwhile is refused with a message, not silently lost.
                try await page.focusList()
                try await page.press("Home")
                try await page.press(" ")
                try await page.wait("document.querySelector('.toast.is-error')")
                try await bench.startService()
                try await page.click(".banner-button")
                try await page.wait("!document.querySelector('.banner:not([hidden])')")
                try await bench.addPaused(1, from: 2)
                try await page.wait(PageBench.isShown("file-2.bin"))
            }
        }
    }
}
