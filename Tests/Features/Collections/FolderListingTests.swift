import PawlBase
import PawlCollections
import Testing

@Suite struct `Listings of folders` {
    /// 2026-11-29 12:00.
    private let now = UnixTime(seconds: 1_795_953_600)

    private func links(_ text: String, cutAt size: Int = .max, followsLinks: Bool = true) -> [ListedLink] {
        var listing = FolderListing(now: now, followsLinks: followsLinks)
        var links: [ListedLink] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            links += listing.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return links + listing.end()
    }

    private func names(_ links: [ListedLink]) -> [String] {
        links.map { String(decoding: $0.reference, as: UTF8.self) }
    }

    @Test func `by MLSD have types, sizes and times`() {
        let text = """
            type=cdir;modify=20261129160000; .
            type=pdir;modify=20261129160000; ..
            Type=dir;Modify=20240101000000;UNIX.mode=0755; sub dir
            type=file;size=1234;modify=20240101000000.123; a; b.iso
            type=OS.unix=slink:a;  not-there
            Type=dir;Modify=20240101000000; d
            type=OS.unix=slink:d; link
            """.replacing("\n", with: "\r\n")
        for size in [1, 1000] {
            let found = links(text, cutAt: size)
            #expect(names(found) == ["sub%20dir/", "a%3B%20b.iso", "d/", "link/"])
            #expect(found[1].size == 1234 && found[1].isExact && found[1].modified == UnixTime(seconds: 1_704_067_200))
            #expect(found[1].timeStep == 1)
        }
    }

    @Test func `by LIST are lines of ls`() {
        let found = links(
            """
            total 12
            drwxr-xr-x    2 0        0            4096 Nov 28 10:00 .
            drwxr-xr-x    2 0        0            4096 Nov 28 10:00 dir with  spaces
            -rw-r--r--    1 1000     users        1234 Jan 01  2024 old.iso
            -rw-r--r--    1 1000     domain users 5    Dec 24 18:30 leads  two.txt
            -rw-r--r--    1 owner    77 Nov 29 11:59 no-group
            lrwxrwxrwx    1 0        0               7 Nov 28 10:00 latest -> old.iso
            lrwxrwxrwx    1 0        0               7 Nov 28 10:00 out -> ../../etc
            prw-r--r--    1 0        0               0 Nov 28 10:00 pipe
            this is no line
            """)
        #expect(
            names(found) == ["dir%20with%20%20spaces/", "old.iso", "leads%20%20two.txt", "no-group", "latest"])
        #expect(found[1].size == 1234 && found[1].timeStep == 86_400)
        #expect(found[1].modified == UnixTime(seconds: 1_704_067_200))
        // The coming December would be the future.
        #expect(found[2].size == 5 && found[2].modified == UnixTime(seconds: 1_766_601_000) && found[2].timeStep == 60)
        #expect(found[3].size == 77)
        #expect(found[4].isLink && found[4].size == nil)
    }

    @Test func `by LIST are lines of DOS`() {
        let found =
            links("01-01-24  12:00AM       <DIR>          Program Files\r\n11-29-2026  04:11PM    1,234 x\r\n")
            + links("12-24-25  06:30PM                1234 a b.txt\n")
        #expect(names(found) == ["Program%20Files/", "a%20b.txt"])
        #expect(found[1].size == 1234 && found[1].modified == UnixTime(seconds: 1_766_601_000))
    }

    @Test func `leave out links if that is wanted`() {
        let text = "-rw-r--r-- 1 0 0 5 Nov 28 10:00 a\nlrwxrwxrwx 1 0 0 1 Nov 28 10:00 b -> a\n"
        #expect(names(links(text)) == ["a", "b"] && names(links(text, followsLinks: false)) == ["a"])
    }
}
