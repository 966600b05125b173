import Testing

@testable import PawlBase
@testable import PawlResumeData

@Suite struct PropertyListTests {
    /// What CPython's plistlib writes for `everything`, as an independent reference.
    private static let foreign = """
        62706c6973743030d40102030405061a1d5924617263686976657258246f626a656374735424746f70582476657273696f6e5f100f4e\
        534b657965644172636869766572a2070855246e756c6cd7090a0b0c0d0e0f10111213141819516151625163516451655166546c6f6e\
        6781012c13fffffffffffffffb13000001000000000009a3151617233ff80000000000004f101400ff00ff00ff00ff00ff00ff00ff00\
        ff00ff00ff6300c4d83dde423341c858dfa00000005f10147878787878787878787878787878787878787878d11b1c54726f6f748001\
        12000186a008111b24293244474d5c5e60626466686d707982838790a7aeb7ced1d6d80000000000000101000000000000001e000000\
        000000000000000000000000dd
        """

    private static let everything = PropertyList.dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": .reference(1)]),
        "$objects": .array([
            .string("$null"),
            .dictionary([
                "a": .reference(300), "b": .integer(-5), "c": .integer(1 << 40), "d": .boolean(true),
                "e": .array([.real(1.5), .data((0..<20).map { $0 % 2 == 0 ? 0 : 255 }), .string("Ä🙂")]),
                // 2026-11-21T12:00:00Z
                "f": .date(816_955_200), "long": .string(String(repeating: "x", count: 20)),
            ]),
        ]),
    ])

    @Test func `the output of another program is parsed`() throws {
        let bytes = try #require(Hexadecimal.bytes(Self.foreign))
        let list = try PropertyList(bytes)
        #expect(list == Self.everything)
    }

    @Test func `every kind of value is read back from both forms`() throws {
        #expect(try PropertyList(Self.everything.bytes) == Self.everything)
        let many = PropertyList.array((0..<70_000).map { .integer(Int64($0) * 99_991) })
        #expect(try PropertyList(many.bytes) == many)
        for number in [Int64.min, -1, 0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max] {
            #expect(try PropertyList(PropertyList.integer(number).bytes) == .integer(number))
            #expect(try PropertyList(ResumeFixture.xml(.integer(number))) == .integer(number))
        }
        for count in 0...10 {
            let data = PropertyList.data((0..<UInt8(count)).map { 255 - 7 * $0 })
            #expect(try PropertyList(ResumeFixture.xml(data)) == data)
        }
    }

    @Test(
        arguments: [
            ("<string>a&amp;b&lt;&#x41;&#66;<![CDATA[<&>]]><!-- c -->d</string>", .string("a&b<AB<&>d")),
            ("<string></string>", .string("")), ("<string/>", .string("")), ("<data/>", .data([])),
            ("<integer> 0xFF </integer>", .integer(255)), ("<integer>-7</integer>", .integer(-7)),
            ("<true></true>", .boolean(true)), ("<array/>", .array([])), ("<dict />", .dictionary([:])),
            ("<date>2001-01-01T00:00:01Z</date>", .date(1)), ("<real>1e3</real>", .real(1000)),
            ("<dict><!-- x --><key>CF$UID</key><integer>3</integer></dict>", .reference(3)),
            ("<data>\n\tAP8=\n</data>", .data([0, 255])),
        ] as [(String, PropertyList)]) func `XML is parsed as far as property lists use it`(
            _ text: String, _ value: PropertyList
        ) throws
    {
        #expect(
            try PropertyList(Array("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\(text)</plist>".utf8)) == value)
    }

    @Test(arguments: [
        "<plist>", "<plist></plist>", "<plist><string>a</plist>", "<plist><string>a</string></plist>x",
        "<plist><string>&nope;</string></plist>", "<plist><string>&#xD800;</string></plist>",
        "<plist><integer>9223372036854775808</integer></plist>", "<plist><integer></integer></plist>",
        "<plist><dict><string>a</string></dict></plist>", "<plist><dict><key>a</key></dict></plist>",
        "<plist><array><true/></dict></plist>", "<plist><data>é</data></plist>", "<plist><set/></plist>",
        "<!DOCTYPE plist [<!ENTITY a \"aa\">]><plist><true/></plist>", "<plist><string>a&amp</string></plist>",
        "<plist><date>2001-13-01T00:00:01Z</date></plist>", "<plist><string><![CDATA[x</string></plist>",
    ]) func `invalid XML is refused`(_ text: String) {
        #expect(throws: PropertyList.Fault.self) { try PropertyList(Array(text.utf8)) }
    }

    @Test func `endlessly nested lists are refused`() {
        let open = String(repeating: "<array>", count: 100_000)
        #expect(throws: PropertyList.Fault.self) { try PropertyList(Array("<plist>\(open)".utf8)) }
        // An array that contains itself.
        #expect(throws: PropertyList.Fault.self) { try PropertyList(Self.binary([[0xA1, 0]])) }
    }

    @Test func `objects that refer to each other twice, forty deep, are refused in time`() {
        let objects = (1...40).map { [0xA2, UInt8($0), UInt8($0)] } + [[0x09]]
        let fault = #expect(throws: PropertyList.Fault.self) { try PropertyList(Self.binary(objects)) }
        #expect(fault?.words == "the binary property list is too large")
    }

    @Test func `more than a mebibyte is refused`() {
        let fault = #expect(throws: PropertyList.Fault.self) {
            try PropertyList([UInt8](repeating: 0x20, count: 1 << 20 + 1))
        }
        #expect(fault?.words == "it is larger than 1 MiB")
    }

    @Test(
        arguments: [
            [0x00], [0x0F], [0x14], [0x1F], [0x13, 1], [0x24], [0x4F],
            [0x4F, 0x13, 255, 255, 255, 255, 255, 255, 255, 255], [0x5E, 1], [0x6F, 0x10, 200], [0x70], [0xA1, 9],
            [0xC0], [0xD1, 0, 0], [0xDF, 0x12, 255, 255, 255, 255], [0xFF],
        ] as [[UInt8]]) func `an invalid object is refused`(_ object: [UInt8])
    { #expect(throws: PropertyList.Fault.self) { try PropertyList(Self.binary([object])) } }

    /// Objects with references of one byte, unchanged.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [objects.count, 0, table] { bytes += [UInt8](repeating: 0, count: 7) + [UInt8(number)] }
        return bytes
    }
}
