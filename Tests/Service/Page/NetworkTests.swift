import Glibc
import PawlCore
import PawlTestKit
import Testing

extension BrowserTests {
    /// The network of the service is lost and restored: service and browser run in a separate network.
    @Suite(
        .serialized,
        .enabled(if: PawlBinary.isBuilt && Namespace.isAvailable, "needs the built program, root and iproute2"))
    struct NetworkTests {
        private static let banner = "document.querySelector('.banner:not([hidden])')"

        @Test func `D4 the page reports the network loss, and waiting downloads resume when it is back`() async throws {
            let house = try House()
            let payload = Payload(seed: 1, length: 4 << 20)
            let url = house.origin.serve("/film.bin", payload) { $0.cut = .stall(from: 1 << 20) }
            try house.add(url)
            let page = try await house.page()
            let state = PageBench.text(of: "film.bin", ".cell-state")
            try await page.wait("\(state) === 'Downloading'")
            try house.namespace.unplug()
            try await page.wait("\(Self.banner)?.textContent.includes('1 download will resume')")
            try await page.wait("\(state) === 'Waiting for network'")
            #expect(try await page.problems() == [])
            try house.namespace.plugIn()
            house.origin.adjust("/film.bin") { $0.cut = nil }
            house.origin.release("/film.bin")
            try await page.wait("!\(Self.banner)")
            try await page.wait("\(state) === 'Finished'")
            #expect(FileSystem.difference(of: house.folder.path("root/film.bin"), from: payload) == nil)
            #expect(house.browser.complaints == [])
        }

        @Test func `a service that hangs counts as gone until it responds again`() async throws {
            let house = try House()
            let page = try await house.page()
            house.service.send(SIGSTOP)
            try await page.wait("\(Self.banner)?.textContent.includes('does not respond')")
            house.service.send(SIGCONT)
            try await page.wait("!\(Self.banner)")
            try house.add("--paused", house.origin.url("/later.bin"))
            try await page.wait(PageBench.isShown("later.bin"))
        }
    }

    /// The built program and a browser behind a cable, with an origin on this side of it.
    private final class House {
        let namespace: Namespace
        let origin: OriginServer
        let folder: TemporaryFolder
        let service: PawlProcess
        let browser: Browser

        init() throws {
            // Another run of the tests on this machine would have the same addresses.
            namespace = try Namespace(number: 32 + Int(getpid() % 160))
            origin = try OriginServer(address: namespace.address)
            folder = try TemporaryFolder()
            service = try namespace.start(
                PawlBinary.path,
                [
                    "serve", "--no-secret", "--no-sessions", "--root", folder.path("root"), "--socket",
                    folder.path("socket"),
                ])
            browser = try Browser(in: namespace)
            let isThere = service.line(in: .err) { $0.contains("6800") } != nil
            try #require(isThere, "\(service.errors)")
        }

        deinit {
            browser.close()
            service.send(SIGTERM)
            service.wait()
            origin.stop()
        }

        func add(_ words: String...) throws {
            let verb = ["add", "--socket", folder.path("socket"), "--timeout", "600", "-x", "1"]
            let added = try PawlProcess.run(PawlBinary.path, verb + words)
            #expect(added.exit == .code(0), "\(added.errors)")
        }

        func page() async throws -> BrowserPage {
            let page = try await BrowserPage(browser)
            // A browser drops what it is loading when its network changes, and this one has just been created.
            for attempt in 1... {
                do {
                    try await page.open("http://127.0.0.1:6800/")
                    try await page.wait("document.documentElement.dataset.view === 'list'", atMost: 20)
                    break
                } catch let error as Browser.Refused where attempt < 5 && error.description.contains("complete") {
                    continue
                }
            }
            return page
        }
    }
}
