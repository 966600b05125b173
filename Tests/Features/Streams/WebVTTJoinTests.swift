import PawlStreams
import Testing

@Suite struct WebVTTJoinTests {
    private func joined(_ segments: [String], beginning starts: [Int: Int64] = [:]) throws -> String {
        var join = WebVTTJoin()
        var bytes: [UInt8] = []
        for (index, segment) in segments.enumerated() {
            if let start = starts[index] { join.begin(at: start) }
            bytes += try join.joined(Array(segment.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `segments become one file with one header`() throws {
        let file = try joined([
            "WEBVTT - title\nX-A: b\n\nNOTE x\n\n00:01.000 --> 00:02.500 align:start\nHello\n<b>there</b>\n",
            "\u{FEFF}WEBVTT\r\n\r\nid 7\r\n01:00:03.000 --> 01:00:04.000\r\nBye\r\n\r\n", "WEBVTT", "WEBVTT\n\n",
        ])
        #expect(
            file == """
                WEBVTT

                00:00:01.000 --> 00:00:02.500 align:start
                Hello
                <b>there</b>

                id 7
                01:00:03.000 --> 01:00:04.000
                Bye


                """)
    }

    @Test func `a cue across the border of segments is in the file once`() throws {
        let cue = "00:05.000 --> 00:07.000\nlong\n\n"
        let file = try joined([
            "WEBVTT\n\n\(cue)", "WEBVTT\n\n\(cue)00:07.000 --> 00:08.000\nnext\n", "WEBVTT\n\n\(cue)",
        ])
        #expect(file.split(separator: "\n").filter { $0 == "long" }.count == 1)
        #expect(file.split(separator: "\n").filter { $0 == "next" }.count == 1)
    }

    @Test func `cues of the same time with other texts are all kept`() throws {
        let file = try joined(["WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:01.000 --> 00:02.000\nb\n"])
        #expect(file.contains("a\n") && file.contains("b\n"))
    }

    @Test func `times follow the map of each segment, from the first one`() throws {
        func segment(_ ticks: Int64, _ local: String, _ text: String) -> String {
            "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:\(local),MPEGTS:\(ticks)\n\n00:01.000 --> 00:02.000\n\(text)\n"
        }
        let file = try joined([
            segment(900_000, "00:00:00.000", "a"), segment(900_000 + 540_000, "00:00:00.000", "b"),
            segment(900_000 + 1_080_000, "00:00:02.000", "c <00:01.500>d"),
        ])
        #expect(file.contains("00:00:01.000 --> 00:00:02.000\na"))
        #expect(file.contains("00:00:07.000 --> 00:00:08.000\nb"))
        #expect(file.contains("00:00:11.000 --> 00:00:12.000\nc <00:00:11.500>d"))
    }

    @Test func `a timestamp goes on where its 33 bits begin anew`() throws {
        let top: Int64 = 1 << 33
        let maps = [top - 450_000, 450_000, 900_000, top / 2, top - 450_000, 450_000]
        let file = try joined(
            maps.enumerated().map { index, map in
                "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(map),LOCAL:00:00:00.000\n\n00:00.000 --> 00:01.000\n\(index)\n"
            })
        #expect(file.contains("00:00:00.000 --> 00:00:01.000\n0"))
        #expect(file.contains("00:00:10.000 --> 00:00:11.000\n1"))
        #expect(file.contains("00:00:15.000 --> 00:00:16.000\n2"))
        // A whole turn of 2^33 / 90000 seconds later.
        #expect(file.contains("26:30:53.717 --> 26:30:54.717\n5"))
    }

    @Test func `a part begins at its own time`() throws {
        let segment = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:5,LOCAL:00:00:00.000\n\n00:01.000 --> 00:02.000\n"
        let file = try joined(["WEBVTT\n\n00:01.000 --> 00:02.000\na\n", segment + "b\n"], beginning: [1: 60_000_000])
        #expect(file.contains("00:00:01.000 --> 00:00:02.000\na"))
        #expect(file.contains("00:01:01.000 --> 00:01:02.000\nb"))
    }

    @Test func `no time is below zero`() throws {
        let file = try joined(
            ["WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:04.000 --> 00:06.000\nb\n"], beginning: [0: -5_000_000])
        #expect(file == "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nb\n\n")
    }

    @Test func `styles and regions are kept once, in front of the cues`() throws {
        let style = "STYLE\n::cue { color: red }\n\nREGION\nid:a\n\n"
        let file = try joined([
            "WEBVTT\n\n\(style)", "WEBVTT\n\n\(style)00:01.000 --> 00:02.000\na\n",
            "WEBVTT\n\nSTYLE\n::cue { color: blue }\n\n",
        ])
        #expect(file == "WEBVTT\n\n\(style)00:00:01.000 --> 00:00:02.000\na\n\n")
    }

    @Test(arguments: [
        ("<html>", "it does not begin with WEBVTT"), ("", "it does not begin with WEBVTT"),
        ("WEBVTT\n\n00:0x.000 --> 00:02.000\na\n", "the time of a cue in it cannot be read"),
        ("WEBVTT\n\n00:61.000 --> 00:02.000\na\n", "the time of a cue in it cannot be read"),
        ("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:x,LOCAL:00:00:00.000\n", "its X-TIMESTAMP-MAP cannot be read"),
    ]) func `what cannot be read is refused, since a cue would be lost`(text: String, why: String) {
        #expect(throws: StreamFlaw(why)) { try joined([text]) }
    }
}
