import PawlBase
import Testing

struct ResponseFieldTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 1, 1), ("bytes 500-999/1234", 500, 1000, 1234), ("bytes 0-4/*", 0, 5, nil),
            ("Bytes 0-4/5", 0, 5, 5), ("BYTES 0-4/5", 0, 5, 5), ("  bytes 0-4/5 ", 0, 5, 5), ("bytes  0-4/5", 0, 5, 5),
            ("bytes\t0-4/5", 0, 5, 5), ("bytes 0 - 4 / 5", 0, 5, 5), ("bytes 0-4 /5", 0, 5, 5),
            ("bytes 00-04/05", 0, 5, 5),
            ("bytes 9223372036854775805-9223372036854775806/9223372036854775807", Int64.max - 2, Int64.max, Int64.max),
        ] as [(String, Int64, Int64, Int64?)]) func `a Content-Range is parsed`(
            _ text: String, start: Int64, end: Int64, total: Int64?
        )
    { #expect(ContentRangeField(parsing: text.utf8) == .range(ByteRange(start, end), total: total)) }

    @Test(arguments: [("bytes */1234", 1234), ("bytes */0", 0), ("bytes  * / 5", 5)] as [(String, Int64)])
    func `the form of a 416 is parsed`(_ text: String, _ total: Int64) {
        #expect(ContentRangeField(parsing: text.utf8) == .unsatisfied(total: total))
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes /", "bytes 5-3/10", "bytes 0-9/9", "bytes 10-10/10", "bytes 0-99", "bytes 0-/10",
        "bytes -5/10", "bytes 5/10", "bytes 0-4/", "bytes /5", "bytes */*", "bytes *", "bytes=0-1/2", "bytes:0-1/2",
        "bytes: 0-1/2", "bytes0-1/2", "0-1/2", "pages 0-1/2", "x-bytes 0-1/2", "bytes 0-1/2/3", "bytes 0-1-2/3",
        "bytes -1-2/3", "bytes 0--1/2", "bytes +0-1/2", "bytes 0x0-1/2", "bytes 0-1/-2", "bytes 0-1/2, bytes 1-1/2",
        "bytes 0-9223372036854775807/*", "bytes 0-1/99999999999999999999", "bytes 99999999999999999999-1/2",
        "bytes 0-99999999999999999999/2", "bytes 0-1/2;x", "bytes 0-1/two", "bytes ０-1/2", "none", "bytes 0 1-2/3",
    ]) func `an inexact Content-Range is malformed`(_ text: String) {
        #expect(ContentRangeField(parsing: text.utf8) == .malformed(text))
    }

    @Test(arguments: [
        ("\"abc\"", "abc", false), ("W/\"abc\"", "abc", true), ("w/\"abc\"", "abc", true), ("W/ \"abc\"", "abc", true),
        (" \"abc\" ", "abc", false), ("\"a;b,c=\"", "a;b,c=", false), ("\"W/abc\"", "W/abc", false),
        ("abc", "abc", true), ("\"abc", "abc", true), ("abc\"", "abc", true), ("W/abc", "abc", true),
        ("\"a\"b\"", "a\"b", true), ("\"a b\"", "a b", true), ("\"a\"-gzip", "a\"-gzip", true),
        ("'abc'", "'abc'", true), ("\"\u{E9}\"", "\u{C3}\u{A9}", false),
    ]) func `an entity tag in quotes is strong, a sloppy one weak`(_ text: String, _ opaque: String, _ isWeak: Bool) {
        #expect(EntityTag(parsing: text.utf8) == EntityTag(opaque: opaque, isWeak: isWeak))
    }

    @Test(arguments: ["", " ", "\"\"", "W/\"\"", "W/", "\""]) func `an empty entity tag is none`(_ text: String) {
        #expect(EntityTag(parsing: text.utf8) == nil)
    }

    @Test func `tags are equal only if their bytes are`() {
        // é as one scalar and as two are equal as Swift text.
        #expect(EntityTag(parsing: "\"\u{E9}\"".utf8) != EntityTag(parsing: "\"e\u{301}\"".utf8))
    }
}
