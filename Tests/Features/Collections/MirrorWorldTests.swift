import Glibc
import PawlBase
import PawlCollections
import PawlDisk
import PawlJournal
import PawlTestKit
import Synchronization
import Testing

/// Folders that are mirrored again and again, by runs of which some are killed, from servers that change, fail, and name what
/// no file can have; meanwhile users keep files of their own there.
@Suite struct `Worlds of mirrors` {
    @Test(arguments: 0..<40) func `fetch nothing twice, and remove only what they have put there and is gone`(
        seed: Int
    ) async throws {
        let world = try MirrorWorld(seed: UInt64(seed))
        for _ in 0..<8 {
            let broken = try await world.round()
            #expect(broken == nil)
        }
        #expect(world.kept > 0, "no file was found unchanged")
    }

    @Test(arguments: MirrorWorld.Sabotage.allCases) func `notice a defect`(sabotage: MirrorWorld.Sabotage) async throws
    {
        for seed in 0..<40 {
            let world = try MirrorWorld(seed: UInt64(seed), sabotage)
            for _ in 0..<8 where try await world.round() != nil { return }
        }
        Issue.record("\(sabotage) was not noticed")
    }
}

final class MirrorWorld {
    enum Sabotage: CaseIterable {
        /// Removes what a listing that is not complete lacks.
        case trustsPartialListings
        /// Removes what others have put there.
        case removesAllThatIsNotListed
        /// Fetches what it has.
        case forgetsWhatItHas
    }

    private let parent: TemporaryFolder
    private let disk = FileDisk(notice: { _ in })
    private let sabotage: Sabotage?
    private var dice: Dice
    /// The versions of the server's files, by path.
    private var served: [String: Int] = [:]
    /// Those that were fetched.
    private var fetched: [String: Int] = [:]
    /// The contents of the users' own files, and of those that they have edited.
    private var own: [String: [UInt8]] = [:]
    private var changes = 0
    private(set) var kept = 0

    init(seed: UInt64, _ sabotage: Sabotage? = nil) throws {
        parent = try TemporaryFolder(in: "/dev/shm")
        dice = Dice(seed: seed)
        self.sabotage = sabotage
        for number in 0..<6 { served[number < 3 ? "f\(number)" : "s\(number % 2)/f\(number)"] = 0 }
    }

    private var folder: String { parent.path("d") }

    private func chance(_ one: UInt64) -> Bool { dice.next() % one == 0 }

    private static func bytes(_ path: String, _ version: Int) -> [UInt8] {
        Payload(seed: CRC64.value(of: path.utf8) &+ UInt64(version), length: Int64(100 + version)).bytes
    }

    private static func modified(_ version: Int) -> UnixTime {
        UnixTime(seconds: 1_600_000_000 + Int64(version) * 7_200)
    }

    /// Changes the server and the folder, and mirrors; returns the law that was broken.
    func round() async throws -> String? {
        change()
        let server = MirrorServer(pages: pages())
        var options = TreeLister.Options()
        options.obeysRobots = false
        let root = try WebAddress.parse("http://host/root/").address
        let run = CollectionRun(TreeLister(root, options, pages: server), into: folder, remembersPaths: true)
        var found: [PlannedEntry] = []
        let tally = run.read { if case .entry(let planned) = $0, planned.entry.kind == .file { found.append(planned) } }
        // Killed at any point, or never.
        let end = chance(3) ? Int(dice.next() % UInt64(found.count + 1)) : nil
        for planned in found.prefix(end ?? .max) {
            let path = planned.entry.path
            guard let version = served[path] else { return "a file that the server does not have: \(path)" }
            let isThere = fetched[path] == version && own[path] == nil
            guard planned.state.isFetched || isThere && sabotage == .forgetsWhatItHas else {
                if !isThere { return "\(path) is taken for unchanged" }
                kept += 1
                continue
            }
            if isThere, planned.entry.describesContent || sabotage == .forgetsWhatItHas {
                return "\(path) is fetched again"
            }
            // The server is asked, and shows that it is the same.
            if isThere { continue }
            if own[path] == nil { try await fetch(planned, version) }
        }
        let removed = end == nil ? remove(run, tally) : []
        return broken(tally, removed, isWhole: end == nil)
    }

    private func change() {
        for path in served.keys.sorted() where chance(6) {
            changes += 1
            served[path] = chance(2) ? nil : changes
        }
        if chance(2) { served[chance(2) ? "n\(changes)" : "s\(changes % 3)/n\(changes)"] = changes }
        if chance(4), let path = fetched.keys.sorted().first(where: { _ in chance(3) }), own[path] == nil {
            keep(path)
        }
        if chance(4) { keep("mine\(changes)") }
        changes += 1
    }

    /// A user writes a file.
    private func keep(_ path: String) {
        fetched[path] = nil
        own[path] = Self.bytes(path, 1_000 + changes)
        unsafe mkdir(folder, 0o755)
        try? FileSystem.write(own[path] ?? [], to: "\(folder)/\(path)")
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
            if pages[path]?.bytes.first == .less { served[String(path.dropFirst("/root/".count)) + "x"] = changes }
        }
        return pages
    }

    private func fetch(_ planned: PlannedEntry, _ version: Int) async throws {
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
        _ = try await withCheckedContinuation { continuation in
            file.publish(length: Int64(bytes.count), modified: Self.modified(version)) {
                continuation.resume(returning: $0)
            }
        }.get()
        fetched[path] = version
    }

    private func remove(_ run: CollectionRun, _ tally: ListingTally) -> [String] {
        let missing = paths().filter { !run.hasListed($0) }
        switch sabotage {
        case .trustsPartialListings: return missing.filter { fetched[$0] != nil && unlink($0) }
        case .removesAllThatIsNotListed where !tally.isPartial: return missing.filter(unlink)
        case .removesAllThatIsNotListed, .forgetsWhatItHas, nil:
            return CollectionCleanup(run, in: folder, isSelective: false).removeMissing().compactMap { try? $0.get() }
        }
    }

    private func unlink(_ path: String) -> Bool { unsafe Glibc.unlink("\(folder)/\(path)") == 0 }

    private func paths(in path: String = "") -> [String] {
        FileSystem.names(in: path.isEmpty ? folder : "\(folder)/\(path)").flatMap { name -> [String] in
            let own = path.isEmpty ? name : "\(path)/\(name)"
            return FileSystem.names(in: "\(folder)/\(own)").isEmpty ? [own] : paths(in: own)
        }
    }

    private func broken(_ tally: ListingTally, _ removed: [String], isWhole: Bool) -> String? {
        if !tally.isOver { return "the listing is not over" }
        if tally.isPartial, !removed.isEmpty { return "\(removed) were removed after a part of a listing" }
        for path in removed {
            if fetched[path] == nil { return "\(path) was removed, and not fetched" }
            if served[path] != nil { return "\(path) was removed, and is not gone" }
            fetched[path] = nil
        }
        if !Set(parent.names).isSubset(of: ["d"]) { return "there are \(parent.names) outside of the folder" }
        for (path, bytes) in own where FileSystem.contents("\(folder)/\(path)") != bytes {
            return "\(path) of the user's is not as it was"
        }
        for (path, version) in fetched where FileSystem.contents("\(folder)/\(path)") != Self.bytes(path, version) {
            return "\(path) is not as it was fetched"
        }
        guard isWhole, !tally.isPartial, tally.files > 0 else { return nil }
        let expected = Set(served.keys).union(own.keys)
        let found = Set(paths().filter { !isFolder($0) })
        return found == expected ? nil : "the folder differs in \(found.symmetricDifference(expected).sorted())"
    }

    private func isFolder(_ path: String) -> Bool {
        var found = stat()
        return unsafe lstat("\(folder)/\(path)", &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }
}

/// A server with pages, which knows no WebDAV.
private final class MirrorServer: PageFetching {
    struct Page: Sendable {
        var bytes: [UInt8]
        var isRefused = false
    }

    private let pages: [String: Page]

    init(pages: [String: Page]) { self.pages = pages }

    func fetch(_ request: PageRequest, onChange: @escaping @Sendable () -> Void) throws(Failure) -> any PageTransfer {
        guard let page = pages[request.address.path], !page.isRefused, request.listing == nil else {
            return Transfer(nil, [], Failure(.badResponse, "cannot fetch", at: request.address.text, because: "no"))
        }
        return Transfer(PageHead(address: request.address, contentType: nil), page.bytes, nil)
    }

    private final class Transfer: PageTransfer {
        let head: PageHead?
        let end: Result<Void, Failure>?
        private let bytes: Mutex<[UInt8]>

        init(_ head: PageHead?, _ bytes: [UInt8], _ failure: Failure?) {
            self.head = head
            self.bytes = Mutex(bytes)
            end = failure.map { .failure($0) } ?? .success(())
        }

        func take() -> [UInt8]? {
            bytes.withLock { bytes in
                defer { bytes = [] }
                return bytes.isEmpty ? nil : bytes
            }
        }
        func cancel() {}
    }
}
