import PawlCore
import Testing

@testable import PawlBase

/// Allowed and refused redirects.
@Suite struct DowngradeCaseTests {
    private func after(_ target: String, from scheme: WebAddress.Scheme, isAllowed: Bool = false) -> Bench {
        var bench = Bench(scheme: scheme) { $0.allowsDowngrade = isAllowed }
        bench.begin()
        bench.respond(Bench.redirect(to: target))
        return bench
    }

    @Test func `a redirect from https to http is refused, and the error names the option that allows it`() throws {
        let bench = after("http://b.example/f", from: .https)
        let failure = try #require(bench.machine.failure)
        #expect(failure.code == .insecure)
        #expect(failure.why.contains("http://b.example"))
        #expect(failure.remedy.text.contains("from https to http"))
        #expect(bench.machine.lanes.list.isEmpty)
    }

    @Test func `so is one on the same host, and one after other redirects to https`() {
        #expect(after("http://a.example/f", from: .https).machine.phase == .failed)
        var bench = after("https://b.example/f", from: .http)
        #expect(bench.machine.phase == .probing)
        bench.respond(Bench.redirect(to: "http://c.example/f"))
        #expect(bench.machine.failure?.code == .insecure)
    }

    @Test func `all others are followed, and that one if it is allowed`() {
        #expect(after("http://b.example/f", from: .https, isAllowed: true).machine.phase == .probing)
        #expect(after("https://b.example/f", from: .https).machine.phase == .probing)
        #expect(after("https://b.example/f", from: .http).machine.phase == .probing)
        #expect(after("http://b.example/f", from: .http).machine.phase == .probing)
    }
}
