import PawlBase
import Testing

@testable import PawlHub

@Suite struct HubListingTests {
    private static let sha1 = String(repeating: "ab", count: 20)
    private static let sha256 = String(repeating: "cd", count: 32)

    private func page(_ text: String) throws(Failure) -> HubPage { try HubPage(Array(text.utf8), at: "hub") }

    @Test func `the digest of a large file is that of its content, not of its pointer`() throws {
        let page = try page(
            """
            [{"type":"directory","oid":"\(Self.sha1)","size":0,"path":"d"},
             {"type":"file","oid":"\(Self.sha1)","size":5,"path":"d/small"},
             {"type":"file","oid":"\(Self.sha1)","size":9,"path":"large","xetHash":"\(Self.sha256)",
              "lfs":{"oid":"\(Self.sha256)","size":1234567890123,"pointerSize":134}}]
            """)
        #expect(page.refused.isEmpty && page.entries.map(\.path) == ["d/small", "large"])
        #expect(page.entries[0].checksum?.algorithm == .gitBlob && page.entries[0].tag == Self.sha1)
        #expect(page.entries[1].checksum?.algorithm == .sha256 && page.entries[1].tag == Self.sha256)
        #expect(page.entries[1].size == 1_234_567_890_123)
    }

    @Test(arguments: [
        "../up", "/absolute", "a//b", "a/./b", "", "a/../b", "line\\nend", "nul\\u0000", "a/",
    ])
    func `a path that leads elsewhere is refused, and the others stay`(_ path: String) throws {
        let page = try page(
            """
            [{"type":"file","oid":"\(Self.sha1)","size":5,"path":"\(path)"},
             {"type":"file","oid":"\(Self.sha1)","size":5,"path":"good"}]
            """)
        #expect(page.refused.count == 1 && page.entries.map(\.path) == ["good"])
    }

    @Test(arguments: [
        #"{"type":"file","oid":"../../x","size":5,"path":"f"}"#, #"{"type":"file","size":5,"path":"f"}"#,
        #"{"type":"file","oid":"abababababababababababababababababababab","size":-1,"path":"f"}"#,
        #"{"type":"file","oid":"abababababababababababababababababababab","size":1,"path":"f","lfs":{"oid":"x","size":1}}"#,
        #"{"type":"file","oid":"ABABABABABABABABABABABABABABABABABABABAB","size":1,"path":"f"}"#,
        #"{"type":"file","oid":"abababababababababababababababababababab","size":99999999999,"path":"f"}"#,
    ])
    func `a file without a digest that can be checked is refused`(_ row: String) throws {
        let page = try page("[\(row)]")
        #expect(page.entries.isEmpty && page.refused.map(\.path) == ["f"])
    }

    @Test(arguments: ["", "{}", "<html>", "null", "[", #""text""#])
    func `what is no list is no page`(_ text: String) {
        #expect { try page(text) } throws: { ($0 as? Failure)?.code == .badResponse }
    }

    @Test func `the next page is the endpoint's, or the listing fails`() throws {
        let url = try WebAddress.parse("https://hub.example/api/models/o/n/tree/c?recursive=true").address
        func next(_ link: String) throws(Failure) -> String? {
            var head = ResponseHead(status: 200)
            head.link = link
            return try HubPage.next(after: url, head)?.text
        }
        #expect(
            try next("<https://hub.example/api/x?cursor=a%3D>; rel=\"next\"") == "https://hub.example/api/x?cursor=a%3D"
        )
        #expect(try next("</api/x?cursor=b>; rel=next") == "https://hub.example/api/x?cursor=b")
        #expect(try next("<https://other.example/>; rel=\"xet-auth\"") == nil)
        for other in ["https://evil.example/x", "http://hub.example/x", "https://hub.example:8443/x"] {
            #expect { try next("<\(other)>; rel=\"next\"") } throws: { ($0 as? Failure)?.code == .badResponse }
        }
    }

    @Test func `a commit is 40 digits`() {
        #expect(HubRevision.commit(Array(#"{"id":"o/n","sha":"\#(Self.sha1)"}"#.utf8)) == Self.sha1)
        for text in [#"{"sha":"main"}"#, #"{"sha":7}"#, "[]", #"{"sha":"../../\#(Self.sha1)"}"#] {
            #expect(HubRevision.commit(Array(text.utf8)) == nil)
        }
    }

    @Test func `a refusal says what the user can do`() {
        func refusal(_ status: Int, _ code: String, token: Bool) -> HubRefusal {
            HubRefusal(status: status, code: code, hasToken: token, hub: "hub.example")
        }
        let unknown = refusal(401, "RepoNotFound", token: false)
        #expect(unknown.disposition.code == .authorization && !unknown.disposition.isRetried)
        #expect(unknown.reason.description.contains("no such repository, or it is private"))
        #expect(refusal(404, "RepoNotFound", token: true).disposition.code == .notFound)
        #expect(refusal(403, "GatedRepo", token: true).disposition.code == .authorization)
        #expect(refusal(404, "EntryNotFound", token: false).disposition.code == .notFound)
        let limited = refusal(429, "", token: false)
        #expect(limited.disposition.isRetried && limited.disposition.code == .overloaded)
        for code in ["RepoNotFound", "RevisionNotFound", "EntryNotFound", "GatedRepo", "DisabledRepo", ""] {
            for token in [true, false] {
                #expect(!refusal(401, code, token: token).reason.description.isEmpty)
            }
        }
    }

    @Test func `the cache has the paths that the hub's libraries look for`() {
        let layout = HubCacheLayout(HubAddress(.datasets, "org/name"))
        let entry = HubEntry(path: "a/b.bin", size: 3, blob: Self.sha1, sha256: Self.sha256)
        #expect(layout.blob(entry) == "datasets--org--name/blobs/\(Self.sha256)")
        #expect(layout.lock(entry) == ".locks/datasets--org--name/\(Self.sha256).lock")
        #expect(layout.reference("refs/pr/1") == "datasets--org--name/refs/refs/pr/1")
        #expect(layout.reference(Self.sha1) == nil)
        let (path, target) = layout.link(to: entry, at: Self.sha1)
        #expect(path == "datasets--org--name/snapshots/\(Self.sha1)/a/b.bin")
        #expect(target == "../../../blobs/\(Self.sha256)")
        let tree = HubCacheLayout.tree([entry, HubEntry(path: "\"q\"", size: 1, blob: Self.sha1)])
        let json = try? JSON.parse(tree)
        #expect(json?["format_version"]?.integer == 1)
        #expect(json?["files"]?["a/b.bin"]?["lfs_sha256"]?.string == Self.sha256)
        #expect(json?["files"]?["\"q\""]?["blob_id"]?.string == Self.sha1)
    }
}
