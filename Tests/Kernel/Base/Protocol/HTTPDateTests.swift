import PawlBase
import PawlTestKit
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 8:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt", "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 -0000",
        "Sun, 06 Nov 1994 09:49:37 +0100", "Sun, 06 Nov 1994 03:19:37 -0530", "Sun Nov 06 08:49:37 1994",
        "Sun Nov  6 08:49:37 GMT 1994", "Sun, 06 Nov 94 08:49:37 GMT", "Sunda, 06 Nov 1994 08:49:37 Z",
    ]) func `every form of a date is parsed`(_ text: String) {
        #expect(UnixTime(httpDate: text) == UnixTime(seconds: 784_111_777))
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Sat, 01 Mar 1600 00:00:00 GMT", -11_670_912_000),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ] as [(String, Int64)]) func `the calendar is correct at its edges`(_ text: String, _ seconds: Int64)
    { #expect(UnixTime(httpDate: text)?.seconds == seconds) }

    @Test(arguments: [
        "", "0", "-1", "now", "1994-11-06T08:49:37Z", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 1900 00:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 GMT", "Sun, 06 Nov 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov Dec 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +2500",
        "Sun, 06 Nov 1994 08:49:37 +0060", "Sun, 06 Nov 1994 08:49:37 +01", "+0100 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 06 Nov 194 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 08:49:37 GMT", "Sun, 06 Nov 1994 008:49:37 GMT", "Sun, 06 Nov 1994 08::37 GMT",
        "Sun, 06 Nov 1994 7 08:49:37 GMT", "Sun, 06 Nov -1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT\u{0}",
        "99999999999999999999 Nov 99 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT                                        ",
    ]) func `an invalid date is none`(_ text: String) { #expect(UnixTime(httpDate: text) == nil) }

    @Test func `a year of two digits is at most 50 years ahead`() {
        let now = UnixTime(httpDate: "Mon, 06 Jul 2026 00:00:00 GMT")
        func year(_ short: String, _ now: UnixTime?) -> Substring? {
            UnixTime(httpDate: "Sunday, 06-Nov-\(short) 08:49:37 GMT", now: now)?.httpDate.dropFirst(12).prefix(4)
        }
        #expect(year("94", now) == "1994")
        #expect(year("76", now) == "2076")
        #expect(year("77", now) == "1977")
        #expect(year("26", now) == "2026")
        #expect(year("69", nil) == "2069")
        #expect(year("70", nil) == "1970")
    }

    @Test func `dates are written in the preferred form`() {
        #expect(UnixTime(seconds: 784_111_777).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(UnixTime(seconds: 0).httpDate == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(UnixTime(seconds: -1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(UnixTime(seconds: -62_135_596_800).httpDate == "Mon, 01 Jan 0001 00:00:00 GMT")
    }

    @Test func `dates of eight hundred years survive a round trip`() {
        for day in stride(from: Int64(-146_097), to: 146_097, by: 13) {
            let time = UnixTime(seconds: day * 86_400 + (day &* 7919) % 43_200 + 43_199)
            if UnixTime(httpDate: time.httpDate) != time { Issue.record("\(time.httpDate)") }
        }
    }

    @Test func `no time and no text trap`() {
        var dice = Dice(seed: 4)
        for seconds in [Int64.min, Int64.min + 1, Int64.max] {
            #expect(UnixTime(seconds: seconds).httpDate.hasSuffix("GMT"))
        }
        for _ in 0..<20_000 {
            if let time = UnixTime(httpDate: dice.damaged("Sunday, 06-Nov-94 08:49:37 +0130")[...]) {
                _ = time.httpDate
            }
        }
    }
}
