import PawlBase
import PawlCollections
import PawlJournal
import Testing

@Suite struct `Listings of WebDAV servers` {
    private func links(_ text: String, cutAt size: Int = .max) throws(IndexFault) -> [ListedLink] {
        var page = IndexPage(isMultistatus: true)
        var links: [ListedLink] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            links += page.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return links + (try page.end())
    }

    private func references(_ text: String) throws -> [String] {
        try links(text).map { String(decoding: $0.reference, as: UTF8.self) }
    }

    /// A listing of one member with these properties.
    private func member(_ properties: String, status: String = "HTTP/1.1 200 OK", href: String = "/a") -> String {
        """
        <multistatus xmlns="DAV:" xmlns:oc="http://owncloud.org/ns"><response><href>\(href)</href><propstat><prop>\
        \(properties)</prop><status>\(status)</status></propstat></response></multistatus>
        """
    }

    private let nextcloud = """
        <?xml version="1.0"?>
        <d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns" xmlns:nc="x">
        <d:response><d:href>/dav/files/u/</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype>
        <d:getlastmodified>Mon, 01 Jan 2024 00:00:00 GMT</d:getlastmodified><d:getetag>&quot;6592&quot;</d:getetag></d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat><d:propstat><d:prop><d:getcontentlength/><oc:checksums/></d:prop>
        <d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>
        <d:response><d:href>/dav/files/u/caf%c3%a9%20&amp;1.bin</d:href><d:propstat><d:prop><d:resourcetype/>
        <d:getcontentlength>1234</d:getcontentlength><d:getlastmodified>Mon, 01 Jan 2024 00:00:00 GMT</d:getlastmodified>
        <d:getetag>&quot;6592ab&quot;</d:getetag><oc:checksums><oc:checksum>MD5:d41d8cd98f00b204e9800998ecf8427e \
        SHA1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709 ADLER32:00000001</oc:checksum></oc:checksums></d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        <d:response><d:href>/dav/files/u/folder</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype>
        </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
        <d:response><d:href>/dav/files/u/gone</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>
        </d:multistatus>
        """

    @Test(arguments: [1, 7, .max]) func `of Nextcloud have sizes, times, tags and digests`(size: Int) throws {
        let found = try links(nextcloud, cutAt: size)
        #expect(
            found.map { String(decoding: $0.reference, as: UTF8.self) } == [
                "/dav/files/u/", "/dav/files/u/caf%c3%a9%20&1.bin", "/dav/files/u/folder/",
            ])
        #expect(found[1].size == 1234 && found[1].isExact && found[1].timeStep == 1)
        #expect(found[1].modified == UnixTime(seconds: 1_704_067_200) && found[1].entityTag == "6592ab")
        // The best that it states.
        #expect(found[1].checksum == "sha-1=da39a3ee5e6b4b0d3255bfef95601890afd80709")
    }

    @Test func `become entries below their root, whatever form their references have`() throws {
        var walk = TreeWalk(try WebAddress.parse("https://h/dav/files/u/").address)
        let next = walk.next()
        var page = try #require(next)
        let found = try links(nextcloud).map { walk.take($0, on: &page) }
        guard case .nothing = found[0], case .file(let file) = found[1], case .folder(let folder) = found[2] else {
            Issue.record("\(found)")
            return
        }
        #expect(file.path == "caf\u{E9} &1.bin" && folder.path == "folder" && !walk.isPartial)
        let hostile = [
            "/a/../../etc/x", "//evil/dav/files/u/x", "http://evil/dav/files/u/x", "/dav/files/x", "a%2F..%2Fb",
        ]
        let taken = try hostile.map { walk.take(try links(member("", href: $0))[0], on: &page) }
        #expect(taken.allSatisfy { if case .file = $0 { false } else if case .folder = $0 { false } else { true } })
    }

    @Test func `are read in any prefix, and elements of other namespaces are not`() throws {
        #expect(try references(member("")) == ["/a"])
        #expect(
            try references("<x:multistatus xmlns:x='DAV:'><x:response><x:href>/a</x:href></x:response></x:multistatus>")
                == ["/a"])
        let other = member("<s:getcontentlength xmlns:s='urn:s'>7</s:getcontentlength><getetag>\"a\"</getetag>")
        #expect(try links(other)[0].size == nil && links(other)[0].entityTag == "a")
        let nested = member("<lockdiscovery><href>/other</href></lockdiscovery>")
        #expect(try references(nested) == ["/a"])
        #expect(throws: IndexFault.self) {
            try references("<multistatus><response><href>/a</href></response></multistatus>")
        }
    }

    @Test(arguments: [
        "W/\"a\"", "a", "\"\"", "\"a\"b\"",
    ]) func `state no tag that is weak or no tag at all`(tag: String) throws {
        #expect(try links(member("<getetag>\(tag)</getetag>"))[0].entityTag == nil)
    }

    @Test(arguments: [
        ("SHA256:" + String(repeating: "ab", count: 32), "sha-256=" + String(repeating: "ab", count: 32)),
        ("ADLER32:0badcafe", "adler32=0badcafe"), ("SHA1:xyz", nil), ("MD5:00", nil), ("", nil), ("WHIRLPOOL:00", nil),
    ]) func `have the digests that are known`(text: String, expected: String?) throws {
        let found = try links(member("<oc:checksums><oc:checksum>\(text)</oc:checksum></oc:checksums>"))
        #expect(found[0].checksum == expected)
    }

    @Test func `have properties of a group that was found only, and collections end with a slash`() throws {
        #expect(
            try links(member("<getcontentlength>7</getcontentlength>", status: "HTTP/1.1 403 Forbidden"))[0].size == nil
        )
        #expect(try links(member("<getcontentlength>-7</getcontentlength>"))[0].size == nil)
        #expect(try references(member("<resourcetype><collection/></resourcetype>", href: "/a")) == ["/a/"])
        #expect(try references(member("", href: "/a/")) == ["/a"])
        #expect(try references(member("", href: "<![CDATA[/a&amp;]]>&lt;b")) == ["/a&amp;<b"])
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY b 'c'>]><multistatus xmlns='DAV:'/>", "<html>Log in</html>", "Log in", "",
        "<multistatus xmlns='DAV:'>", "<multistatus xmlns='DAV:'></other>", "<multistatus xmlns='DAV:'/><x/>",
        "<multistatus xmlns='DAV:'><a b></a></multistatus>", "<multistatus xmlns='DAV:'><<a/></multistatus>",
        "<multistatus xmlns='DAV:'>" + String(repeating: "<a>", count: 100) + "</multistatus>",
        "<multistatus xmlns='DAV:'><response><href>" + String(repeating: "a", count: 20_000)
            + "</href></response></multistatus>",
        "<multistatus xmlns='DAV:' a='" + String(repeating: "a", count: 20_000) + "'/>",
        "<multistatus xmlns='DAV:' " + (0..<300).map { "xmlns:n\($0)='u'" }.joined(separator: " ") + "/>",
    ]) func `that are damaged, cut off or endless are refused`(text: String) {
        for size in [1, .max] { #expect(throws: IndexFault.self) { try links(text, cutAt: size) } }
    }
}

@Suite struct `Sums files of a tree` {
    private let address = WebAddress(scheme: .http, host: "h", port: 80, path: "/pub/SHA256SUMS", query: nil)
    private func digest(_ byte: String) -> String { String(repeating: byte, count: 32) }

    @Test func `state digests of files in their folder and below`() throws {
        var sums = TreeSums()
        var isRead = false
        let text = "\(digest("aa"))  a.bin\n\(digest("bb")) *./sub/b.bin\n\(digest("cc"))  ../c.bin\n"
        isRead = sums.add(Array(text.utf8), at: "d/SHA256SUMS", of: address)
        #expect(isRead)
        #expect(sums.digest(of: "d/a.bin")?.checksum == Checksum(.sha256, hex: Array(digest("aa").utf8)[...]))
        #expect(sums.digest(of: "d/sub/b.bin")?.level == .sidecar)
        #expect(sums.digest(of: "a.bin") == nil && sums.digest(of: "c.bin") == nil && sums.digest(of: "b.bin") == nil)
        isRead = sums.add(Array("<html>".utf8), at: "SHA256SUMS", of: address)
        #expect(!isRead)
    }

    @Test func `that contradict each other state none, and the better one counts`() {
        var sums = TreeSums()
        var isRead = false
        let md5 = String(repeating: "dd", count: 16)
        isRead = sums.add(Array("\(md5)  a\n\(md5)  b\n".utf8), at: "MD5SUMS", of: address)
        #expect(isRead)
        isRead = sums.add(Array("\(digest("aa"))  a\n\(digest("bb"))  b\n".utf8), at: "SHA256SUMS", of: address)
        #expect(isRead)
        isRead = sums.add(Array("\(digest("cc"))  b\n".utf8), at: "SHA256SUMS.txt", of: address)
        #expect(isRead)
        isRead = sums.add(Array("\(md5)  a\n".utf8), at: "CHECKSUM.md5", of: address)
        #expect(isRead)
        #expect(sums.digest(of: "a")?.checksum.algorithm == .sha256 && sums.digest(of: "b") == nil)
    }

    @Test func `are read up to a number, which is not what the tree has to decide`() {
        var sums = TreeSums()
        for number in 0..<64 {
            #expect(sums.mayAdd)
            _ = sums.add(Array("\(digest("aa"))  a\n".utf8), at: "\(number)/SHA256SUMS", of: address)
        }
        #expect(!sums.mayAdd)
    }
}
