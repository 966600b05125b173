import Glibc
import PawlBase
import PawlCollections
import PawlDisk
import PawlJournal
import PawlSystem

/// Folders that are mirrored again and again, by runs of which some are killed, from servers that change, fail, and name what
/// no file can have; meanwhile users keep files of their own there.
package enum MirrorSimulation {
    private static let rounds = 8

    package static func run(seed: UInt64, sabotage: MirrorSabotage? = nil) -> Simulation.Outcome {
        do {
            let world = try MirrorWorld(seed: seed, sabotage)
            var violations: [Violation] = []
            for _ in 0..<rounds where violations.isEmpty {
                if let text = try world.round() { violations.append(Violation(.mirrored, text)) }
            }
            return Simulation.Outcome(violations: violations, tally: world.tally, log: world.log)
        } catch {
            return Simulation.Outcome(violations: [Violation(.mirrored, "\(error)")], tally: Tally(), log: [])
        }
    }
}

/// One server and one folder.
private final class MirrorWorld {
    private let parent: TemporaryFolder
    private let disk = FileDisk(notice: { _ in })
    private let sabotage: MirrorSabotage?
    private var dice: Dice
    /// The versions of the server's files, by path.
    private var served: [String: Int] = [:]
    /// Those that were fetched.
    private var fetched: [String: Int] = [:]
    /// The contents of the users' own files, and of those that they have edited.
    private var own: [String: [UInt8]] = [:]
    private var changes = 0
    private(set) var tally = Tally()
    private(set) var log: [String] = []

    init(seed: UInt64, _ sabotage: MirrorSabotage?) throws {
        parent = try TemporaryFolder(in: "/dev/shm")
        dice = Dice(seed: seed)
        self.sabotage = sabotage
        for number in 0..<6 { served[number < 3 ? "f\(number)" : "s\(number % 2)/f\(number)"] = 0 }
    }

    private var folder: String { parent.path("d") }

    private func chance(_ one: UInt64) -> Bool { dice.next() % one == 0 }

    private func note(_ mechanism: String, _ path: String = "") {
        tally.note("collections: \(mechanism)")
        log.append("\(mechanism) \(path)")
    }

    private static func bytes(_ path: String, _ version: Int) -> [UInt8] {
        Payload(seed: CRC64.value(of: path.utf8) &+ UInt64(version), length: Int64(100 + version)).bytes
    }

    private static func modified(_ version: Int) -> UnixTime {
        UnixTime(seconds: 1_600_000_000 + Int64(version) * 7_200)
    }

    /// Changes the server and the folder, and mirrors; returns the law that was broken.
    func round() throws -> String? {
        note("mirrors")
        change()
        let server = MirrorServer(pages: pages())
        var options = TreeLister.Options()
        options.obeysRobots = false
        let root = try WebAddress.parse("http://host/root/").address
        let run = CollectionRun(TreeLister(root, options, pages: server), into: folder, remembersPaths: true)
        var found: [PlannedEntry] = []
        let tally = run.read { if case .entry(let planned) = $0, planned.entry.kind == .file { found.append(planned) } }
        if tally.isPartial { note("mirrors of incomplete listings") }
        // Killed at any point, or never.
        let end = chance(3) ? Int(dice.next() % UInt64(found.count + 1)) : nil
        if end != nil { note("killed mirrors") }
        var blocked: [PlannedEntry] = []
        for planned in found.prefix(end ?? .max) {
            guard let version = served[planned.entry.path] else {
                return "a file that the server does not have: \(planned.entry.path)"
            }
            if let broken = try take(planned, version, &blocked) { return broken }
        }
        let removed = end == nil ? remove(run, tally) : []
        if let broken = broken(tally, removed) { return broken }
        guard end == nil else { return nil }
        try fetch(blocked)
        return tally.isPartial || tally.files == 0 ? nil : difference
    }

    private func take(_ planned: PlannedEntry, _ version: Int, _ blocked: inout [PlannedEntry]) throws -> String? {
        let path = planned.entry.path
        let isThere = fetched[path] == version && own[path] == nil
        guard planned.state.isFetched || isThere && sabotage == .forgetsWhatItHas else {
            if !isThere { return "\(path) is taken for unchanged" }
            note("files kept", path)
            return nil
        }
        if isThere, planned.entry.describesContent || sabotage == .forgetsWhatItHas {
            return "\(path) is fetched again"
        }
        // The server is asked, and shows that it is the same.
        if isThere || own[path] != nil { return nil }
        if PlaceObstacle(of: planned.entry, below: folder) == nil {
            try fetch(planned, version)
        } else {
            blocked.append(planned)
        }
        return nil
    }

    /// Fetches those whose place is free now.
    private func fetch(_ blocked: [PlannedEntry]) throws {
        guard sabotage != .leavesObstacles else { return }
        for planned in blocked where PlaceObstacle(of: planned.entry, below: folder) == nil {
            guard let version = served[planned.entry.path] else { continue }
            note("files that gave way", planned.entry.path)
            try fetch(planned, version)
        }
    }

    // MARK: what changes between two runs

    private func change() {
        for path in served.keys.sorted() where chance(6) {
            changes += 1
            served[path] = chance(2) ? nil : changes
        }
        if chance(3) { changeKind() }
        if chance(2) { serve(chance(2) ? "n\(changes)" : "s\(changes % 3)/n\(changes)") }
        if chance(4), let path = fetched.keys.sorted().first(where: { _ in chance(3) }), own[path] == nil {
            keep(path)
        }
        if chance(4) { keep("mine\(changes)") }
        if chance(8), let folder = fetched.keys.sorted().compactMap(Self.folder).first {
            keep("\(folder)/mine\(changes)")
        }
        changes += 1
    }

    private static func folder(of path: String) -> String? {
        path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// The server has a file at a path, and nothing that this rules out.
    private func serve(_ path: String) {
        served = served.filter { !$0.key.hasPrefix(path + "/") && !path.hasPrefix($0.key + "/") }
        served[path] = changes
    }

    /// A file becomes a folder, or a folder a file.
    private func changeKind() {
        let paths = served.keys.sorted()
        guard !paths.isEmpty else { return }
        let path = paths[Int(dice.next() % UInt64(paths.count))]
        if let folder = Self.folder(of: path) {
            note("folders that became files", folder)
            serve(folder)
        } else {
            note("files that became folders", path)
            serve("\(path)/in")
        }
    }

    /// A user writes a file.
    private func keep(_ path: String) {
        let bytes = Self.bytes(path, 1_000 + changes)
        unsafe mkdir(folder, 0o755)
        guard (try? FileSystem.write(bytes, to: "\(folder)/\(path)")) != nil else { return }
        note("files of users", path)
        fetched[path] = nil
        own[path] = bytes
    }

    private func pages() -> [String: MirrorServer.Page] {
        var lines: [String: [String]] = ["/root/": []]
        for (path, version) in served.sorted(by: { $0.key < $1.key }) {
            let parts = path.split(separator: "/")
            let page = parts.count == 1 ? "/root/" : "/root/\(parts[0])/"
            if lines[page] == nil {
                lines[page] = []
                lines["/root/"]?.append("{\"name\":\"\(parts[0])\",\"type\":\"directory\"}")
            }
            let facts = "\"mtime\":\"\(Self.modified(version).httpDate)\",\"size\":\(100 + version)"
            lines[page]?.append("{\"name\":\"\(parts.last ?? "")\",\"type\":\"file\",\(facts)}")
        }
        if chance(6) {
            let name = ["..", "../x", "a/../../x", "/etc/passwd", "a\\u0000", "\\u001b[2J"][Int(dice.next() % 6)]
            lines["/root/"]?.append("{\"name\":\"\(name)\",\"type\":\"file\",\"size\":1}")
        }
        var pages = lines.mapValues { MirrorServer.Page(bytes: Array("[\($0.joined(separator: ","))]".utf8)) }
        for path in pages.keys.sorted() where chance(12) {
            switch dice.next() % 4 {
            case 0: pages[path]?.isRefused = true
            case 1: pages[path]?.bytes.removeLast(2)
            case 2: pages[path]?.bytes = Array("<title>Log in</title><a href=x>x</a>".utf8)
            case _: pages[path]?.bytes = []
            }
            // A page that is no index names a file all the same.
            if pages[path]?.bytes.first == .less { serve(path.dropFirst("/root/".count) + "x") }
        }
        return pages
    }

    // MARK: a run

    private func fetch(_ planned: PlannedEntry, _ version: Int) throws {
        let (path, bytes) = (planned.entry.path, Self.bytes(planned.entry.path, version))
        let parts = path.split(separator: "/").map(String.init)
        let name = parts.last ?? path
        var claim = Claim(
            folder: ([folder] + parts.dropLast()).joined(separator: "/"), name: name, ifExists: .overwrite,
            facts: JournalFacts(sources: [planned.entry.address], name: name))
        claim.recognizesBytes = true
        guard case .fresh(let file) = try disk.claim(claim, adopts: { _ in false }) else {
            throw SetupFailure("claim \(path)")
        }
        try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in try unsafe file.write(bytes, at: 0) }
        let published = Monitor<Result<String, Failure>?>(nil)
        file.publish(length: Int64(bytes.count), modified: Self.modified(version)) { result in
            published.with { $0 = result }
        }
        guard let result = published.wait(for: { $0 }) else { throw SetupFailure("publish \(path)") }
        _ = try result.get()
        fetched[path] = version
        note("files fetched", path)
    }

    private func remove(_ run: CollectionRun, _ tally: ListingTally) -> [String] {
        let missing = paths().filter { !run.hasListed($0) }
        switch sabotage {
        case .trustsPartialListings: return missing.filter { fetched[$0] != nil && unlink($0) }
        case .removesAllThatIsNotListed where !tally.isPartial: return missing.filter(unlink)
        case .removesAllThatIsNotListed, .forgetsWhatItHas, .hidesPartialListings, .leavesObstacles, nil:
            var removed: [String] = []
            CollectionCleanup(run, in: folder, isSelective: false).removeMissing {
                if let path = try? $0.get() { removed.append(path) }
            }
            return removed
        }
    }

    private func unlink(_ path: String) -> Bool { unsafe Glibc.unlink("\(folder)/\(path)") == 0 }

    /// Of all files.
    private func paths(in path: String = "") -> [String] {
        FileSystem.names(in: path.isEmpty ? folder : "\(folder)/\(path)").flatMap { name -> [String] in
            let own = path.isEmpty ? name : "\(path)/\(name)"
            return isFolder(own) ? paths(in: own) : [own]
        }
    }

    private func isFolder(_ path: String) -> Bool {
        var found = stat()
        return unsafe lstat("\(folder)/\(path)", &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    // MARK: laws

    private func broken(_ tally: ListingTally, _ removed: [String]) -> String? {
        if !tally.isOver { return "the listing is not over" }
        if tally.isPartial, !removed.isEmpty { return "\(removed) were removed after a part of a listing" }
        for path in removed {
            if fetched[path] == nil { return "\(path) was removed, and not fetched" }
            if served[path] != nil { return "\(path) was removed, and is not gone" }
            note("files removed", path)
            fetched[path] = nil
        }
        if !Set(parent.names).isSubset(of: ["d"]) { return "there are \(parent.names) outside of the folder" }
        for (path, bytes) in own where FileSystem.contents("\(folder)/\(path)") != bytes {
            return "\(path) of the user's is not as it was"
        }
        for (path, version) in fetched where FileSystem.contents("\(folder)/\(path)") != Self.bytes(path, version) {
            return "\(path) is not as it was fetched"
        }
        return nil
    }

    /// What differs from the server's files after a whole run, besides the files of users, and those that have these in their place.
    private var difference: String? {
        func hasInItsPlace(_ path: String) -> Bool {
            own.keys.contains { $0.hasPrefix(path + "/") || path.hasPrefix($0 + "/") }
        }
        let expected = Set(served.keys.filter { !hasInItsPlace($0) }).union(own.keys)
        let found = Set(paths())
        return found == expected ? nil : "the folder differs in \(found.symmetricDifference(expected).sorted())"
    }
}
