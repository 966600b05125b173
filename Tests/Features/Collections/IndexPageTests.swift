import PawlBase
import PawlCollections
import Testing

@Suite struct `Index pages` {
    private func links(_ text: String, cutAt size: Int = .max) throws -> (links: [ListedLink], page: IndexPage) {
        try links(Array(text.utf8), cutAt: size)
    }

    private func links(_ bytes: [UInt8], cutAt size: Int = .max) throws -> (links: [ListedLink], page: IndexPage) {
        var page = IndexPage()
        var links: [ListedLink] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            links += page.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        links += try page.end()
        return (links, page)
    }

    private func references(_ text: String) throws -> [String] {
        try links(text).links.map { String(decoding: $0.reference, as: UTF8.self) }
    }

    private let nginx = """
        <html>
        <head><title>Index of /pub/</title></head>
        <body>
        <h1>Index of /pub/</h1><hr><pre><a href="../">../</a>
        <a href="sub%20dir/">sub dir/</a>                                           29-Nov-2026 16:11                   -
        <a href="a%26b.iso">a&amp;b.iso</a>                                            01-Jan-2024 00:00                1234
        <a href="big.iso">big.iso</a>                                            01-Feb-2024 10:05                 12M
        </pre><hr></body>
        </html>

        """

    @Test func `of nginx have exact sizes, and times to the minute`() throws {
        for size in [1, 7, 4096] {
            let (found, page) = try links(nginx, cutAt: size)
            #expect(
                found.map { String(decoding: $0.reference, as: UTF8.self) } == [
                    "../", "sub%20dir/", "a%26b.iso", "big.iso",
                ])
            #expect(page.isIndex && page.isWhole)
            #expect(found[2].size == 1234 && found[2].isExact && found[2].timeStep == 60)
            #expect(found[2].modified == UnixTime(seconds: 1_704_067_200))
            // A rounded one.
            #expect(found[3].size == nil && !found[3].isExact && found[3].modified == UnixTime(seconds: 1_706_781_900))
        }
    }

    @Test func `in JSON of nginx and Caddy are read, also names that are not UTF-8`() throws {
        let text = """
            [
            { "name":"sub", "type":"directory", "mtime":"Sun, 29 Nov 2026 16:11:15 GMT" },
            { "name":"a \\"b\\" #1", "type":"file", "mtime":"Mon, 01 Jan 2024 00:00:00 GMT", "size":1234 },
            {"name":"c\u{FF}","size":5,"url":"./c","mod_time":"2024-01-01T01:00:00.5+01:00","is_dir":false,"is_symlink":true}
            ]
            """
        // U+00FF as the single byte of ISO-8859-1.
        let bytes = Array(text.utf8).split(separator: 0xC3, maxSplits: 1).map(Array.init)
        let latin = bytes[0] + [0xFF] + bytes[1].dropFirst()
        for size in [1, 1000] {
            let (found, page) = try links(latin, cutAt: size)
            #expect(page.isIndex)
            #expect(
                found.map { String(decoding: $0.reference, as: UTF8.self) } == ["sub/", "a%20%22b%22%20%231", "c%FF"])
            #expect(found[1].size == 1234 && found[1].isExact && found[1].timeStep == 1)
            #expect(found[1].modified == UnixTime(seconds: 1_704_067_200))
            #expect(found[2].modified == UnixTime(seconds: 1_704_067_200) && found[2].isLink)
        }
        #expect(throws: IndexFault.self) { try links("[{\"name\":\"a\"},{\"na") }
        #expect(try !links("[{\"other\":1}]").page.isIndex)
    }

    @Test(arguments: [
        ("<a href=plain>", "plain"), ("<A HREF='q'>", "q"), ("<a class=x href = \"sp aced\">", "sp aced"),
        ("<a href='a&amp;b&#38;c&#x26;d'>", "a&b&c&d"), ("<a title='a>b' href=c>", "c"), ("<a\nhref=\"n\">", "n"),
        ("<a href=''>", ""), ("<a/href=x>", "x"), ("<a download href=y>", "y"), ("<a = href=z>", "z"),
        ("<a href='&unknown;&'>", "&unknown;&"),
    ]) func `have links in every form of HTML`(tag: String, reference: String) throws {
        #expect(try references(tag) == [reference])
    }

    @Test func `have no links in comments, scripts and texts`() throws {
        #expect(try references("<!-- <a href=a> --><a href=b>") == ["b"])
        #expect(try references("<script>x('<a href=a>')</script><a href=b>") == ["b"])
        #expect(try references("<style><a href=a></style ><a href=c></STYLE><a href=b>") == ["b"])
        #expect(try references("<abbr href=a><area href=b>a < b <a href=c>") == ["c"])
        // An unclosed quote ends with the limit of a tag.
        let long = "<a title=\"" + String(repeating: "x", count: 20_000) + "><a href=b>"
        #expect(try references(long) == ["b"])
    }

    @Test(arguments: [
        ("<title>Index of /</title>", true), ("<title>Directory listing for /</title>", true),
        ("<h1>Log in</h1><a href=a>", false), ("<a href='../'>", true), ("<html><a href='../'>", true),
        ("<title>Welcome</title>", false), ("<A HREF=\"/\">[To Parent Directory]</A>", true),
    ]) func `are told from other pages`(text: String, isIndex: Bool) throws {
        #expect(try links(text).page.isIndex == isIndex)
    }

    @Test func `that lack their end are not whole`() throws {
        #expect(try !links("<html><title>Index of /</title><a href=a>").page.isWhole)
        #expect(try links("<html><a href=a></body></html>").page.isWhole)
        #expect(try links("<title>Directory listing for /</title>").page.isWhole)
    }
}
