import PawlBase
import PawlCollections
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

/// Random trees on a server that cuts pages, refuses them, and writes them in different forms.
@Suite struct `Worlds of listings` {
    @Test(arguments: 0..<300) func `have each file once, and say when one may be missing`(seed: Int) throws {
        let world = ListingWorld(seed: UInt64(seed))
        let root = try WebAddress.parse("http://host/root/").address
        var options = TreeLister.Options()
        options.obeysRobots = seed % 3 != 0
        let run = CollectionRun(TreeLister(root, options, pages: world), into: nil)
        var found: [String] = []
        var failures: [Failure] = []
        let tally = run.read { event in
            switch event {
            case .entry(let planned): found.append(planned.entry.path)
            case .refused(let failure): failures.append(failure)
            case .notice: break
            }
        }
        #expect(Set(found).count == found.count, "a file twice: \(found)")
        #expect(Set(found).isSubset(of: world.files), "a file that is not there")
        #expect(tally.isOver && tally.files == found.count)
        if Set(found) != world.files {
            #expect(tally.isPartial, "missing: \(world.files.subtracting(found))")
            #expect(!failures.isEmpty || tally.failure != nil || world.disallows, "nothing was told")
        }
        if world.refusals == 0, !world.disallows || !options.obeysRobots || world.isWebDAV {
            #expect(
                Set(found) == world.files && failures.isEmpty && tally.failure == nil,
                "\(world.isWebDAV) \(world.files.symmetricDifference(found)) \(failures)")
        }
        #expect(world.probes == (world.isWebDAV ? 0 : 1))
        #expect(world.mostAtOnce <= 9, "\(world.mostAtOnce) requests at once")
        // A page that is cut off is asked for again, and not for ever.
        #expect(world.requests.values.allSatisfy { $0 <= 3 })
    }
}

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

/// A server with a tree of folders.
private final class ListingWorld: PageFetching {
    private struct State {
        var dice: Dice
        var requests: [String: Int] = [:]
        var refusals = 0
        var running = 0
        var mostAtOnce = 0
        /// Requests of WebDAV that were refused.
        var probes = 0
    }

    /// Paths below the root.
    let files: Set<String>
    let disallows: Bool
    let isWebDAV: Bool
    private let pages: [String: [UInt8]]
    private let state: Mutex<State>
    private let faults: Int

    init(seed: UInt64) {
        var dice = Dice(seed: seed)
        var files: Set<String> = []
        var pages: [String: [UInt8]] = [:]
        var pending = ["/root/"]
        let isWebDAV = dice.next() % 3 == 0
        while let folder = pending.popLast(), pages.count < 40 {
            var names: [(name: String, isFolder: Bool)] = []
            for number in 0..<Int(dice.next() % 8) {
                let isFolder = dice.next() % 4 == 0 && pages.count + pending.count < 30
                names.append(
                    (["f\(number)", "a b\(number)", "ä&\(number)", "100%\(number)"][Int(dice.next() % 4)], isFolder))
                let path = folder.dropFirst("/root/".count) + names[number].name
                if isFolder { pending.append("\(folder)\(names[number].name)/") } else { files.insert(String(path)) }
            }
            pages[folder] =
                isWebDAV ? Self.multistatus(folder, names, &dice) : Self.page(folder, names, &dice)
        }
        self.isWebDAV = isWebDAV
        self.files = files
        self.pages = pages
        disallows = dice.next() % 4 == 0
        faults = dice.next() % 2 == 0 ? 0 : 6
        state = Mutex(State(dice: dice))
    }

    private static func multistatus(
        _ folder: String, _ names: [(name: String, isFolder: Bool)], _ dice: inout Dice
    ) -> [UInt8] {
        let prefix = ["", "D:", "lp1:"][Int(dice.next() % 3)]
        let declaration = prefix.isEmpty ? "xmlns='DAV:'" : "xmlns:\(prefix.dropLast())=\"DAV:\""
        func tag(_ name: String, _ content: String) -> String { "<\(prefix)\(name)>\(content)</\(prefix)\(name)>" }
        let members = [("", true)] + names
        let responses = members.map { name, isFolder in
            let slash = isFolder && dice.next() % 2 == 0 ? "/" : ""
            let coded = PercentCoding.reversible((folder + name).utf8) + (name.isEmpty ? "" : slash)
            let href = dice.next() % 2 == 0 ? coded : "http://host\(coded)"
            let type = tag("resourcetype", isFolder ? "<\(prefix)collection/>" : "")
            let found = tag("propstat", tag("prop", type) + tag("status", "HTTP/1.1 200 OK"))
            let missing = tag("propstat", tag("prop", "<\(prefix)getetag/>") + tag("status", "HTTP/1.1 404 Not Found"))
            return tag("response", tag("href", href.replacing("&", with: "&amp;")) + missing + found)
        }
        let root = "<\(prefix)multistatus \(declaration)>\(responses.joined())</\(prefix)multistatus>"
        return Array("<?xml version=\"1.0\"?><!-- members -->\(root)\n".utf8)
    }

    private static func page(_ folder: String, _ names: [(name: String, isFolder: Bool)], _ dice: inout Dice) -> [UInt8]
    {
        let isJSON = dice.next() % 3 == 0
        var lines: [String] = []
        for (name, isFolder) in names {
            let coded = PercentCoding.reversible(name.utf8) + (isFolder ? "/" : "")
            if isJSON {
                lines.append("{\"name\":\"\(name)\",\"type\":\"\(isFolder ? "directory" : "file")\"}")
            } else {
                let forms = [
                    coded, "./\(coded)", PercentCoding.reversible(folder.utf8) + coded,
                    "http://host\(PercentCoding.reversible(folder.utf8))\(coded)",
                ]
                lines.append("<a href='\(forms[Int(dice.next() % 4)])'>\(name.prefix(3))</a>")
                if dice.next() % 3 == 0 { lines.append("<a href=\"../\">up</a><a href='?C=N'>x</a><a href='/'>/</a>") }
            }
        }
        let text = isJSON ? "[\(lines.joined(separator: ","))]" : "<html>\(lines.joined(separator: "\n"))</html>"
        return Array(text.utf8)
    }

    var requests: [String: Int] { state.withLock(\.requests) }
    var refusals: Int { state.withLock(\.refusals) }
    var probes: Int { state.withLock(\.probes) }
    var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

    func fetch(_ request: PageRequest, onChange: @escaping @Sendable () -> Void) throws(Failure) -> any PageTransfer {
        let path = String(decoding: PercentCoding.decoded(request.address.path.utf8), as: UTF8.self)
        let failure = Failure(.network, "cannot fetch", at: path, because: "the connection was lost")
        if request.listing == .properties, !isWebDAV {
            state.withLock { $0.probes += 1 }
            let refusal = Failure(.badResponse, "cannot fetch", at: path, because: "405")
            return ListingWorldPage(nil, [], .failure(refusal)) {}
        }
        let (bytes, end) = state.withLock { state -> ([[UInt8]], Result<Void, Failure>) in
            state.requests[path, default: 0] += 1
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            guard path != "/robots.txt" else {
                return ([Array((disallows ? "User-agent: *\nDisallow: /root/f0/" : "").utf8)], .success(()))
            }
            var content = pages[path] ?? []
            guard pages[path] != nil else { return ([], .failure(failure)) }
            var end = Result<Void, Failure>.success(())
            if faults > 0, state.dice.next() % 10 < UInt64(faults) / 2 {
                let isCut = state.dice.next() % 2 == 0
                content = isCut ? Array(content.prefix(content.count / 2)) : []
                // What is asked for as a page now is none.
                if request.isTrial { content = [] }
                end = .failure(failure)
                // What is read again whole is no failure.
                if !isCut || state.requests[path] == 3 || content.isEmpty { state.refusals += 1 }
            }
            var pieces: [[UInt8]] = []
            var rest = content[...]
            while !rest.isEmpty {
                let size = Int(state.dice.next() % 50) + 1
                pieces.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            return (pieces, end)
        }
        let head = PageHead(
            address: request.address, contentType: nil, isMultistatus: request.listing == .properties)
        return ListingWorldPage(head, bytes, end) { [self] in state.withLock { $0.running -= 1 } }
    }
}

private final class ListingWorldPage: PageTransfer {
    let head: PageHead?
    private let result: Result<Void, Failure>
    private let pieces: Mutex<[[UInt8]]>
    private let onEnd: @Sendable () -> Void
    private let hasEnded = Mutex(false)

    init(_ head: PageHead?, _ pieces: [[UInt8]], _ end: Result<Void, Failure>, onEnd: @escaping @Sendable () -> Void) {
        self.head = head
        self.pieces = Mutex(pieces.reversed())
        result = end
        self.onEnd = onEnd
    }

    var end: Result<Void, Failure>? {
        let isFirst = hasEnded.withLock { ended in
            defer { ended = true }
            return !ended
        }
        if isFirst { onEnd() }
        return result
    }

    func take() -> [UInt8]? { pieces.withLock { $0.popLast() } }
    func cancel() {}
}
