package import PawlBase
package import PawlCollections
import Synchronization

/// A listing of a random tree on a server that cuts pages, refuses them, and writes them in different forms.
package enum ListingSimulation {
    /// `sabotage`: what the reader of the listing does wrong.
    package static func run(seed: UInt64, sabotage: MirrorSabotage? = nil) -> Simulation.Outcome {
        let world = ListingWorld(seed: seed)
        var outcome = Simulation.Outcome(violations: [], tally: Tally(), log: [])
        var options = TreeLister.Options()
        options.obeysRobots = seed % 3 != 0
        var found: [String] = []
        var failures: [Failure] = []
        let root = WebAddress(scheme: .http, host: "host", port: 80, path: "/root/", query: nil)
        let run = CollectionRun(TreeLister(root, options, pages: world), into: nil)
        var tally = run.read { event in
            switch event {
            case .entry(let planned): found.append(planned.entry.path)
            case .refused(let failure): failures.append(failure)
            case .notice: break
            }
        }
        if sabotage == .hidesPartialListings { tally.isPartial = false }
        outcome.violations = broken(world, found, failures, tally, options).map { Violation(.listed, $0) }
        outcome.log = found.map { "listed \($0)" } + failures.map { "refused \($0)" }
        outcome.tally.note("collections: listings")
        outcome.tally.note("collections: files listed", found.count)
        outcome.tally.note("collections: pages refused or cut", world.refusals)
        outcome.tally.note("collections: incomplete listings", tally.isPartial ? 1 : 0)
        outcome.tally.note("collections: listings of WebDAV", world.isWebDAV ? 1 : 0)
        return outcome
    }

    private static func broken(
        _ world: ListingWorld, _ found: [String], _ failures: [Failure], _ tally: ListingTally,
        _ options: TreeLister.Options
    ) -> [String] {
        let files = Set(found)
        var broken: [String] = []
        func hold(_ isKept: Bool, _ text: @autoclosure () -> String) { if !isKept { broken.append(text()) } }
        hold(files.count == found.count, "a file twice: \(found)")
        hold(files.isSubset(of: world.files), "files that are not there: \(files.subtracting(world.files))")
        hold(tally.isOver && tally.files == found.count, "\(tally.files) files are counted of \(found.count)")
        if files != world.files {
            hold(tally.isPartial, "not told as incomplete: \(world.files.subtracting(files)) are missing")
            hold(!failures.isEmpty || tally.failure != nil || world.disallows, "nothing was told")
        }
        if world.refusals == 0, !world.disallows || !options.obeysRobots || world.isWebDAV {
            hold(files == world.files, "without a fault: \(world.files.symmetricDifference(files))")
            hold(failures.isEmpty && tally.failure == nil, "without a fault: \(failures)")
        }
        hold(world.probes == (world.isWebDAV ? 0 : 1), "\(world.probes) requests of WebDAV were refused")
        hold(world.mostAtOnce <= 9, "\(world.mostAtOnce) requests at once")
        // A page that is cut off is asked for again, and not for ever.
        hold(world.requests.values.allSatisfy { $0 <= 3 }, "a page was requested more than 3 times: \(world.requests)")
        return broken
    }
}

/// A server with a tree of folders.
final class ListingWorld: PageFetching {
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

package final class ListingWorldPage: PageTransfer {
    package let head: PageHead?
    private let result: Result<Void, Failure>
    private let pieces: Mutex<[[UInt8]]>
    private let onEnd: @Sendable () -> Void
    private let hasEnded = Mutex(false)

    package init(
        _ head: PageHead?, _ pieces: [[UInt8]], _ end: Result<Void, Failure>, onEnd: @escaping @Sendable () -> Void
    ) {
        self.head = head
        self.pieces = Mutex(pieces.reversed())
        result = end
        self.onEnd = onEnd
    }

    package var end: Result<Void, Failure>? {
        let isFirst = hasEnded.withLock { ended in
            defer { ended = true }
            return !ended
        }
        if isFirst { onEnd() }
        return result
    }

    package func take() -> [UInt8]? { pieces.withLock { $0.popLast() } }
    package func cancel() {}
}
