import PawlBase
import PawlCollections
import Testing

@Suite struct `A walk through a tree` {
    private func first(_ walk: inout TreeWalk) throws -> TreeWalk.Page {
        let page = walk.next()
        return try #require(page)
    }

    /// The findings of links on the root's page.
    private func findings(
        _ references: [String], at url: String = "http://h/pub/", filter: EntryFilter = EntryFilter()
    ) throws -> (found: [TreeWalk.Finding], walk: TreeWalk) {
        var walk = TreeWalk(try WebAddress.parse(url).address, filter: filter)
        var page = try first(&walk)
        let found = references.map { walk.take(ListedLink(Array($0.utf8)), on: &page) }
        try walk.end(page)
        return (found, walk)
    }

    private func path(_ reference: String) throws -> String? {
        switch try findings([reference]).found[0] {
        case .file(let entry), .folder(let entry): entry.path
        case .nothing: nil
        case .refused(let failure): "refused: \(failure.why)"
        }
    }

    @Test(arguments: [
        ("a.iso", "a.iso"), ("./a.iso", "a.iso"), ("/pub/a.iso", "a.iso"), ("http://h/pub/a", "a"),
        ("//h/pub/a", "a"), ("HTTP://H:80/pub/a", "a"), ("sub/", "sub"), ("sub/deep/x", "sub/deep/x"), ("a%20b", "a b"),
        ("a b", "a b"), ("caf%C3%A9", "café"), ("a#part", "a"), (" a ", "a"), ("c%E9", "c%E9"), ("a%2Bb", "a+b"),
        ("x/../y", "y"), ("%70ub", "pub"), ("a:b", nil), ("./a:b", "a:b"), ("a;b", "a;b"),
        ("back%5Cslash", "back\\slash"),
    ]) func `takes what is below its root`(reference: String, path: String?) throws {
        #expect(try self.path(reference) == path)
    }

    @Test(arguments: [
        "", "../", "..", "/", "./", ".", "?C=N;O=D", "?", "#top", "/pub/", "/pub", "../etc/passwd",
        "../../../../etc/passwd",
        "%2e%2e/x", "/%2e%2e/%2e%2e/etc/passwd", "http://other/pub/a", "https://h/pub/a", "http://h:81/pub/a",
        "ftp://h/pub/a", "mailto:a@b", "javascript:alert(1)", "file:///etc/passwd", "data:,x", "a?x=1", "/public/a",
        "//other/pub/a",
    ]) func `leaves out what is not`(reference: String) throws { #expect(try path(reference) == nil) }

    @Test(arguments: ["a%2Fb", "%2e%2e%2fx", "a%00b", "a%0Ab", "a//b", "%1B[2J", "sub/%2F/"])
    func `refuses what cannot be a file, in a sentence`(reference: String) throws {
        let (found, walk) = try findings([reference, "next"])
        guard case .refused(let failure) = found[0] else {
            Issue.record("\(found[0])")
            return
        }
        #expect(!failure.why.isEmpty && failure.code == .badOption)
        #expect(walk.isPartial)
        guard case .file = found[1] else {
            Issue.record("\(found[1])")
            return
        }
    }

    @Test func `takes each path once, whatever form its links have`() throws {
        let (found, walk) = try findings(["a", "./a", "%61", "/pub/a", "d/", "d/", "d"])
        #expect(found.map { $0 != .nothing } == [true, false, false, false, true, false, true])
        #expect(walk.entries == 3 && !walk.isPartial)
    }

    @Test func `visits folders to a depth, and no excluded one`() throws {
        var filter = EntryFilter()
        filter.maximumDepth = 1
        filter.rules = [EntryFilter.Rule("old/", isIncluded: false), EntryFilter.Rule("*.tmp", isIncluded: false)]
        var (found, walk) = try findings(["d/", "d/e/", "old/", "x.tmp", "x"], filter: filter)
        #expect(found.map { $0 != .nothing } == [true, false, false, false, true])
        let (next, last) = (walk.next(), walk.next())
        #expect(next?.folder.path == "d" && last?.folder == nil)
    }

    @Test func `may have a root that moved on its server, and no folder that did`() throws {
        var walk = TreeWalk(try WebAddress.parse("http://h/latest/").address)
        var page = try first(&walk)
        try walk.began(&page, at: try WebAddress.parse("http://h/v2/").address)
        guard case .folder = walk.take(ListedLink(Array("d/".utf8)), on: &page) else {
            Issue.record("no folder")
            return
        }
        try walk.end(page)
        var below = try first(&walk)
        #expect(below.folder.address.text == "http://h/v2/d/")
        #expect(throws: Failure.self) { try walk.began(&below, at: try WebAddress.parse("http://h/v2/").address) }
        #expect(throws: Failure.self) { try walk.began(&below, at: try WebAddress.parse("http://o/v2/d/").address) }
        try walk.began(&below, at: try WebAddress.parse("http://h/v2/%64/").address)
        var other = TreeWalk(try WebAddress.parse("http://h/latest/").address)
        var first = try first(&other)
        #expect(throws: Failure.self) { try other.began(&first, at: try WebAddress.parse("http://o/latest/").address) }
    }

    @Test func `ends where a folder contains itself`() throws {
        var walk = TreeWalk(try WebAddress.parse("http://h/pub/").address)
        var pages = 0
        var loop: Failure?
        while var page = walk.next(), pages < 100 {
            pages += 1
            for name in ["loop/", "file"] { _ = walk.take(ListedLink(Array(name.utf8)), on: &page) }
            do throws(Failure) { try walk.end(page) } catch { loop = error }
        }
        #expect(pages < 12 && loop?.why.contains("contain itself") == true && walk.isPartial)
    }

    @Test func `has limits`() throws {
        var limits = TreeWalk.Limits()
        (limits.entries, limits.folders, limits.depth) = (10, 100, 5)
        var walk = TreeWalk(try WebAddress.parse("http://h/").address, limits: limits)
        var page = try first(&walk)
        let found = (0..<20).map { walk.take(ListedLink(Array("f\($0)".utf8)), on: &page) }
        #expect(found.filter { $0 == .nothing }.count == 9)
        guard case .refused(let failure) = found[10] else {
            Issue.record("\(found[10])")
            return
        }
        #expect(failure.code == .tooLarge && walk.isPartial)
        limits.entries = 1_000
        walk = TreeWalk(try WebAddress.parse("http://h/").address, limits: limits)
        var depth = 0
        while var page = walk.next() {
            depth += 1
            _ = walk.take(ListedLink(Array("d\(depth)/".utf8)), on: &page)
            try walk.end(page)
        }
        #expect(depth == 6 && walk.isPartial)
    }
}

@Suite struct `A filter of entries` {
    private func takes(_ rules: [(String, Bool)], _ path: String) -> Bool {
        var filter = EntryFilter()
        filter.rules = rules.map { EntryFilter.Rule($0.0, isIncluded: $0.1) }
        return filter.takes(CollectionEntry(path: path, address: ""))
    }

    @Test func `has rules of which the last match counts`() {
        #expect(takes([], "a") && takes([("*.iso", true)], "d/a.iso") && !takes([("*.iso", true)], "a.txt"))
        #expect(!takes([("*.tmp", false)], "a.tmp") && takes([("*.tmp", false)], "a"))
        #expect(takes([("*.tmp", false), ("keep.tmp", true)], "keep.tmp"))
        #expect(
            !takes([("*.iso", true), ("old*", false)], "old.iso") && !takes([("*.iso", true), ("old*", false)], "x"))
        #expect(takes([("d/*", true)], "d/e/f") && !takes([("d/*", true)], "e/d/f"))
    }

    @Test func `compares sizes and times as far as they are known`() {
        var filter = EntryFilter()
        filter.maximumSize = 10
        filter.newerThan = UnixTime(seconds: 1_000)
        func takes(_ size: Int64?, _ time: Int64?, step: Int64 = 1) -> Bool {
            filter.takes(
                CollectionEntry(
                    path: "a", address: "", size: size, modified: time.map { UnixTime(seconds: $0) }, timeStep: step))
        }
        #expect(takes(nil, nil) && takes(10, 1_001) && !takes(11, nil) && !takes(nil, 1_000))
        // It may be of any second of the minute.
        #expect(takes(nil, 960, step: 60) && !takes(nil, 900, step: 60))
        #expect(filter.isSelective && !EntryFilter().isSelective)
    }
}

@Suite struct `Patterns of paths` {
    @Test(arguments: [
        ("*.bin", "a.bin", true), ("*.bin", "dir/a.bin", true), ("*.bin", "a.bin.txt", false),
        ("dir/*", "dir/a/b", true), ("dir/*", "other/dir/a", false), ("?", "ü", true), ("a?c", "ac", false),
        ("*", "", true), ("", "a", false), ("*a*b*c", "xaxbxc", true), ("*a*b*c", "xaxcxb", false),
        ("a*", "b/a1", true),
    ]) func `match as in shells`(pattern: String, path: String, matches: Bool) {
        #expect(EntryPattern(pattern).matches(path) == matches)
    }

    @Test func `need no more than the product of the lengths`() {
        let pattern = EntryPattern(String(repeating: "*a", count: 500) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 5_000)))
    }
}
