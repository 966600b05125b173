import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct ReplacingCaseTests {
    private static let fresh = WebAddress(scheme: .http, host: "c.example", port: 80, path: "/f", query: "new")

    /// A download of 4 MiB with its first MiB on disk, whose URL has just been replaced.
    private func replaced(tag: String? = "v1", date: Int64? = nil) -> Bench {
        var bench = Bench()
        bench.begin()
        bench.respond(Bench.whole(4 << 20, tag: tag, date: date))
        bench.progress(to: 1 << 20)
        bench.said = bench.machine.replaceSource(0, with: Self.fresh, now: bench.now)
        return bench
    }

    private func opened(_ bench: Bench) -> [LaneOrder] {
        bench.said.compactMap { if case .open(let order) = $0 { order } else { nil } }
    }

    @Test func `A8 a new URL must prove bytes on disk before it may write`() {
        var bench = replaced()
        let overlap = DownloadMachine.overlap
        #expect(opened(bench).map(\.address) == [Self.fresh])
        #expect(opened(bench).map(\.requested) == [.closed(ByteRange((1 << 20) - overlap, 4 << 20))])
        bench.respond(Bench.part((1 << 20) - overlap, 4 << 20, of: 4 << 20))
        #expect(bench.said.contains(.admit(bench.lane)))
        #expect(bench.machine.provenAddresses == ["http://a.example/f"], "not before the comparison")
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.said == [.record])
        #expect(bench.machine.provenAddresses == ["http://a.example/f", Self.fresh.text])
        bench.progress(to: 4 << 20)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    /// A download of 1000 bytes whose URL is replaced while its digests are computed.
    private func replacedWhileVerifying(_ change: (inout DownloadPlan) -> Void) -> Bench {
        var bench = Bench(change)
        bench.begin()
        bench.respond(Bench.whole(1000))
        bench.progress(to: 1000)
        bench.end(.complete)
        #expect(bench.machine.phase == .verifying)
        bench.said = bench.machine.replaceSource(0, with: Self.fresh, now: bench.now)
        #expect(bench.said.isEmpty && bench.machine.phase == .verifying)
        return bench
    }

    private static let digest = Checksum(algorithm: .sha256, digest: [UInt8](repeating: 1, count: 32))
    private static let other = Checksum(algorithm: .sha256, digest: [UInt8](repeating: 2, count: 32))

    @Test(arguments: [true, false]) func `a URL that is replaced while digests are computed has to show the same bytes`(
        isSame: Bool
    ) {
        var bench = replacedWhileVerifying { $0.storesAttributes = true }
        bench.said = bench.machine.digested([Self.digest], now: bench.now)
        #expect(bench.machine.phase == .transferring)
        #expect(opened(bench).map(\.address) == [Self.fresh])
        bench.respond(Bench.part(0, 1000, of: 1000))
        bench.said = bench.machine.compared(bench.lane, agreed: isSame, now: bench.now)
        guard isSame else {
            #expect(bench.machine.failure?.code == .cannotResume)
            return
        }
        bench.end(.complete)
        #expect(bench.machine.phase == .verifying)
        bench.said = bench.machine.digested([Self.digest], now: bench.now)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `a pause while digests are computed holds after the URL was replaced`() {
        var bench = replacedWhileVerifying { $0.storesAttributes = true }
        bench.said = bench.machine.pause()
        bench.said = bench.machine.digested([Self.digest], now: bench.now)
        #expect(bench.machine.phase == .paused)
        #expect(bench.said.contains(.close(keeping: true)))
    }

    @Test func `a given digest decides although the URL was replaced`() {
        var bench = replacedWhileVerifying { $0.checksums = [Self.digest] }
        bench.said = bench.machine.digested([Self.digest], now: bench.now)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `bytes of a wrong digest are fetched again from the URL that replaced theirs`() {
        var bench = replacedWhileVerifying { $0.checksums = [Self.digest] }
        bench.said = bench.machine.digested([Self.other], now: bench.now)
        #expect(bench.said.contains(.startOver))
        #expect(opened(bench).map(\.address) == [Self.fresh])
        #expect(opened(bench).map(\.requested) == [.whole])
        bench.respond(Bench.whole(1000, tag: "v2"))
        bench.progress(to: 1000)
        bench.end(.complete)
        bench.said = bench.machine.digested([Self.other], now: bench.now)
        #expect(bench.machine.failure?.code == .checksumMismatch)
    }

    @Test func `A8 a different tag is no obstacle if date and bytes are the same`() {
        var bench = replaced(tag: "v1", date: 7)
        let start = (1 << 20) - DownloadMachine.overlap
        bench.respond(Bench.part(start, 4 << 20, of: 4 << 20, tag: "token", date: 7))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        #expect(bench.machine.phase == .transferring)
        #expect(bench.machine.written == 1 << 20)
    }

    @Test(arguments: ["bytes", "length", "page", "no ranges"])
    func `A8 a new URL of other content fails with the reason and every byte is kept`(difference: String) {
        var bench = replaced(tag: "v1", date: 7)
        let start = (1 << 20) - DownloadMachine.overlap
        switch difference {
        case "bytes":
            bench.respond(Bench.part(start, 4 << 20, of: 4 << 20, tag: "token", date: 7))
            bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        case "length": bench.respond(Bench.part(start, 5 << 20, of: 5 << 20))
        case "page":
            var page = Bench.whole(900, tag: nil)
            page.contentType = "text/html"
            bench.respond(page)
        default:
            bench.respond(Bench.whole(4 << 20, tag: nil, date: 7))
            #expect(bench.machine.lanes.list.last?.overlap == 1 << 20)
            bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        }
        #expect(bench.machine.phase == .failed)
        #expect(bench.machine.written == 1 << 20)
        #expect(bench.said.contains(.close(keeping: true)) && !bench.said.contains(.startOver))
        #expect(bench.machine.failure?.remedy.text.contains("kept") ?? false)
    }

    @Test func `A8 a new URL without ranges sends everything, which is compared and then continued`() {
        var bench = replaced()
        bench.respond(Bench.whole(4 << 20))
        #expect(bench.said.contains(.admit(bench.lane)) && !bench.said.contains(.startOver))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 4 << 20)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `A8 a replaced URL that the journal knows needs no comparison`() {
        var bench = Bench { $0.replacesAddress = true }
        bench.begin(Bench.journal([ByteRange(0, 1 << 20)], total: 4 << 20))
        #expect(bench.requested == .closed(ByteRange(1 << 20, 4 << 20)))
        var other = Bench(hosts: ["z.example"]) { $0.replacesAddress = true }
        other.begin(Bench.journal([ByteRange(0, 1 << 20)], total: 4 << 20))
        other.respond(Bench.part((1 << 20) - DownloadMachine.overlap, 9 << 20, of: 9 << 20))
        #expect(other.machine.phase == .failed)
        #expect(other.machine.failure?.code == .cannotResume)
        #expect(other.machine.written == 1 << 20)
    }

    // MARK: requesting another URL

    private func expired(_ status: Int, canRefresh: Bool = true) -> Bench {
        var bench = Bench { $0.canRefresh = canRefresh }
        bench.begin()
        bench.respond(Bench.whole(4 << 20))
        bench.progress(to: 1 << 20)
        bench.fail(.connectionLost)
        bench.ring()
        bench.respond(ResponseHead(status: status))
        return bench
    }

    private func question(_ bench: Bench) -> UInt32? {
        bench.said.lazy.compactMap { if case .refresh(0, let generation) = $0 { generation } else { nil } }.first
    }

    @Test(arguments: [401, 403, 404, 410]) func `A8 a new URL is requested for an expired one, and its bytes continue`(
        status: Int
    ) {
        var bench = expired(status)
        guard let generation = question(bench) else {
            Issue.record("no URL was requested")
            return
        }
        #expect(bench.machine.phase == .transferring)
        bench.ring()
        #expect(bench.said.isEmpty, "no retry while the reply is awaited")
        #expect(bench.machine.refreshed(0, generation &+ 1, to: nil, now: bench.now).isEmpty, "another question's")
        bench.said = bench.machine.refreshed(0, generation, to: Self.fresh, now: bench.now)
        #expect(opened(bench).map(\.address) == [Self.fresh])
        #expect(bench.machine.refreshed(0, generation, to: nil, now: bench.now).isEmpty, "replied already")
    }

    @Test func `A8 without another URL the original failure is reported`() {
        var bench = expired(403)
        let without = expired(403, canRefresh: false)
        #expect(without.machine.phase == .failed)
        bench.said = bench.machine.refreshed(0, question(bench) ?? 0, to: nil, now: bench.now)
        #expect(bench.machine.phase == .failed)
        #expect(bench.machine.failure == without.machine.failure)
        #expect(bench.machine.written == 1 << 20)
    }

    @Test func `A8 fresh URLs that bring no byte are requested a few times only`() {
        var bench = expired(403)
        var questions = 0
        while let generation = question(bench), questions < 20 {
            questions += 1
            bench.said = bench.machine.refreshed(0, generation, to: Self.fresh, now: bench.now)
            bench.respond(ResponseHead(status: 403))
        }
        #expect(questions == RetryBudget.mostRefreshes)
        #expect(bench.machine.phase == .failed)
    }

    @Test func `A8 other failures do not request a URL`() {
        let bench = expired(400)
        #expect(question(bench) == nil)
        #expect(bench.machine.phase == .failed)
    }

    // MARK: removing

    @Test func `D14 a removed download leaves nothing, and restores a finished file that it continued`() {
        var bench = replaced()
        bench.said = bench.machine.remove()
        #expect(bench.machine.phase == .removed)
        #expect(bench.said.contains(.close(keeping: false)))
        #expect(bench.machine.remove().isEmpty && bench.machine.pause().isEmpty)

        var other = Bench()
        other.begin(.existing(length: 1 << 20))
        other.said = other.machine.remove()
        #expect(other.said.contains(.restoreOriginal) && !other.said.contains(.close(keeping: false)))
    }
}
