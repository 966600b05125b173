import PawlBase
import PawlCollections
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@Suite struct `Listings` {
    @Test func `of any length wait for their reader`() throws {
        let names = (0..<10_000).map { "f\($0)" }
        let pages = OnePage(Array(names.map { "<a href=\($0)>x</a>" }.joined().utf8))
        let run = CollectionRun(
            TreeLister(try WebAddress.parse("http://host/").address, .init(), pages: pages), into: nil)
        var found: [String] = []
        let tally = run.read { if case .entry(let planned) = $0 { found.append(planned.entry.path) } }
        #expect(found == names && tally.files == 10_000 && !tally.isPartial == pages.isIndex)
    }

    @Test func `in gzip are read, and damaged ones are refused`() throws {
        func listed(_ content: [UInt8]) throws -> ListingTally {
            let pages = OnePage(content)
            let lister = TreeLister(try WebAddress.parse("http://host/").address, .init(), pages: pages)
            return CollectionRun(lister, into: nil).read { _ in }
        }
        let page = Gzip.compress(Array("<a href=a>a</a><a href=b>b</a>".utf8))
        #expect(try listed(page).files == 2)
        let damaged = try listed(Array(page.dropLast(12)))
        #expect(damaged.failure?.why.contains("gzip") == true && damaged.files == 0)
    }

    @Test func `that are stopped end`() throws {
        let pages = OnePage(Array((0..<10_000).map { "<a href=f\($0)>x</a>" }.joined().utf8))
        let ended = Latch()
        let run = CollectionRun(
            TreeLister(try WebAddress.parse("http://host/").address, .init(), pages: pages), into: nil
        ) { ended.open() }
        run.start()
        ended.pass()
        run.stop()
        var tally = run.tally
        while !tally.isOver {
            run.waitForChange()
            _ = run.take()
            tally = run.tally
        }
        #expect(tally.files < 10_000)
    }
}

/// A server with one page, which is no index.
private struct OnePage: PageFetching {
    let content: [UInt8]
    var isIndex: Bool { false }

    init(_ content: [UInt8]) { self.content = content }

    func fetch(_ request: PageRequest, onChange: @escaping @Sendable () -> Void) throws(Failure) -> any PageTransfer {
        ListingWorldPage(PageHead(address: request.address, contentType: "text/html"), [content], .success(())) {}
    }
}
