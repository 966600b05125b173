import Pawl
import PawlBase
import PawlCollections
import Testing

@Suite struct `Collections in the queue` {
    private func collection() throws -> QueuedCollection {
        var listing = ListingOptions()
        listing.isRecursive = true
        var options = DownloadOptions()
        options.folder = "films/2026"
        options.headers = ["Authorization: x"]
        return QueuedCollection(
            id: "g0123456789abcde", source: "https://h/films/?k=s", listing: listing, options: options, priority: 3,
            addedAt: UnixTime(seconds: 17))
    }

    @Test func `what is listed is the same after it was written and read`() throws {
        let text = """
            {"rules":["+*.iso","-old/"],"maxDepth":3,"newerThan":1700000000,"maxSize":500,"maxEntries":7,"maxFolders":9,\
            "robots":false,"links":false,"artifact":true,"platform":"linux/arm64","recursive":false}
            """
        let listing = try ListingOptions(try JSON.parse(Array(text.utf8)))
        #expect(listing.filter.rules.map(\.text) == ["+*.iso", "-old/"] && listing.filter.maximumDepth == 3)
        #expect(!listing.obeysRobots && !listing.followsLinks && !listing.isRecursive && listing.isArtifact)
        #expect(try ListingOptions(listing.json) == listing)
        #expect(try ListingOptions([:]).json == [:])
        for wrong in [
            #"{"rule":[]}"#, #"{"rules":["*.iso"]}"#, #"{"rules":["+"]}"#, #"{"rules":"+a"}"#, #"{"maxDepth":-1}"#,
            #"{"maxDepth":"1"}"#, #"{"robots":1}"#, #"{"maxSize":-1}"#, "[]", #"{"platform":1}"#,
        ] {
            #expect(throws: Failure.self, "\(wrong)") { try ListingOptions(try JSON.parse(Array(wrong.utf8))) }
        }
    }

    @Test func `its stored form has what it needs to be listed anew`() throws {
        var one = try collection()
        #expect(QueuedCollection(one.json) == one)
        one.phase = .ended
        one.endedAt = UnixTime(seconds: 20)
        (one.counts.listed, one.counts.done, one.counts.failed, one.counts.refused) = (9, 6, 2, 1)
        (one.counts.bytes, one.counts.written, one.counts.isListed) = (900, 600, true)
        one.failure = one.failure(becauseOf: Failure(.notFound, "cannot get", at: "https://h/a", because: "it is gone"))
        #expect(QueuedCollection(one.json) == one)
        // As an earlier version stored it.
        let old: JSON = [
            "id": "g1", "url": "https://h/?k=s", "folder": "", "phase": "ended", "error": "3 of its files failed",
            "code": .number(22),
        ]
        let failure = try #require(QueuedCollection(old)?.failure)
        #expect(
            failure.code == .badResponse && failure.why == "3 of its files failed" && !failure.place.contains("k=s"))
        // What a later version stores is not taken for something else.
        #expect(QueuedCollection(["id": "g1", "url": "https://h/", "folder": "", "phase": "dormant"]) == nil)
        #expect(QueuedCollection(["id": "1", "url": "https://h/", "folder": "", "phase": "active"]) == nil)
    }

    @Test func `it fails as the first of its files did`() throws {
        var one = try collection()
        let first = Failure(.notFound, "cannot get", at: "https://h/a", because: "it is gone")
        #expect(one.failure(becauseOf: first) == nil)
        (one.counts.failed, one.counts.refused) = (2, 1)
        let failure = try #require(one.failure(becauseOf: first))
        #expect(failure.code == .notFound && failure.why.hasPrefix("3 of its files failed"))
        #expect(failure.why.contains("cannot get https://h/a: it is gone") && !failure.place.contains("k=s"))
        #expect(one.failure(becauseOf: nil)?.code == .unknown)
    }

    @Test func `it has the name of its folder, or of its torrent`() throws {
        var one = try collection()
        #expect(one.name == "2026")
        one.source = CollectionSource.text(ofTorrent: Array("d4:info?".utf8), named: "x/a film?.torrent")
        #expect(one.name == "a film?.torrent")
    }

    @Test func `files are added while there is room, and it ends when all were tried`() throws {
        var one = try collection()
        let room = QueuedCollection.room
        for isListed in [false, true] {
            one.counts.isListed = isListed
            for waiting in [0, 1, room - 1, room, room + 5] {
                for known in [0, 1, room, 10_000] {
                    for failed in [0, QueuedCollection.mostFailures - 1, QueuedCollection.mostFailures] {
                        let step = one.step(waiting: waiting, failed: failed, known: known)
                        if failed == QueuedCollection.mostFailures {
                            #expect(step == .giveUp)
                        } else if isListed, waiting == 0, known == 0 {
                            #expect(step == .end)
                        } else if known == 0 || waiting >= room {
                            #expect(step == .wait)
                        } else {
                            #expect(step == .add(min(known, room - waiting)))
                        }
                    }
                }
            }
        }
    }

    @Test func `its id is that of no download`() {
        #expect(QueuedCollection.isGroup("g0123456789abcde") && !QueuedCollection.isGroup("g0123456789abcd"))
        #expect(!QueuedCollection.isGroup("films") && !QueuedCollection.isGroup("g0123456789abcdz"))
        #expect(QueuedCollection.isID("g") && !QueuedCollection.isID("0123456789abcdef") && !QueuedCollection.isID(""))
    }

    @Test func `a URL is a collection by its kind`() throws {
        func kind(_ url: String, isRecursive: Bool = false) throws -> CollectionSource? {
            try CollectionSource(url, isRecursive: isRecursive, DownloadOptions())
        }
        #expect(try kind("https://h/a/") == nil && kind("https://h/a") == nil && kind("s3://b/key") == nil)
        #expect(try kind("https://h/a", isRecursive: true) == nil && kind("https://h/a/?b", isRecursive: true) == nil)
        #expect(try kind("https://u:p@h/a/", isRecursive: true).map { $0.options(DownloadOptions()).user } == "u")
        #expect(try kind("s3://b/p/")?.namesFile == false && kind("s3://b/p", isRecursive: true) != nil)
        #expect(try kind("hf://o/m")?.namesFile == false && kind("hf://o/m/a.txt")?.namesFile == true)
        #expect(try kind("https://huggingface.co/o/m/tree/main")?.namesFile == false)
        let digest = String(repeating: "ab", count: 32)
        #expect(
            try kind("oci://h/n@sha256:\(digest)")?.namesFile == true && kind("docker://alpine")?.namesFile == false)
        #expect(throws: Failure.self) { try kind("hf://o/..") }
        #expect(throws: Failure.self) { try kind("oci://h") }
    }
}
