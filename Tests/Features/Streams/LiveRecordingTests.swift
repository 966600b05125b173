import PawlBase
import Testing

@testable import PawlStreams

/// Which segments of a running programme are recorded, and when its playlist is requested again.
@Suite struct LiveRecordingTests {
    private static let address = WebAddress(scheme: .https, host: "h", port: 443, path: "/live.m3u8", query: nil)

    /// A playlist of the segments with these numbers, of two seconds each.
    private func media(_ numbers: Range<Int>, before: [Int: String] = [:], isEnded: Bool = false) throws -> HLSMedia {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        for number in numbers { text += (before[number] ?? "") + "#EXTINF:2,\ns\(number).ts\n" }
        if isEnded { text += "#EXT-X-ENDLIST\n" }
        guard case .media(let media) = try HLSPlaylist.parse(Array(text.utf8), from: Self.address) else {
            throw StreamFlaw("no media playlist")
        }
        return media
    }

    private func moment(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    private func recording(of seconds: Int64) -> LiveRecording {
        LiveRecording(duration: seconds * 1_000_000, now: moment(0))
    }

    private func numbers(_ addition: LiveRecording.Addition) -> [UInt64] { addition.segments.map(\.segment.number) }

    @Test func `a recording begins three target durations before the end, and takes what is new`() throws {
        var recording = recording(of: 60)
        let first = recording.received(try media(10..<20), asked: moment(0), now: moment(0.1))
        #expect(numbers(first) == [17, 18, 19] && first.missed.isEmpty)
        #expect(recording.due == moment(2), "the target duration")
        let same = recording.received(try media(10..<20), asked: moment(2), now: moment(2.1))
        #expect(numbers(same).isEmpty)
        #expect(recording.due == moment(3), "half of it, where nothing was new")
        let next = recording.received(try media(12..<22), asked: moment(3), now: moment(3.1))
        #expect(numbers(next) == [20, 21] && recording.end == nil && recording.due == moment(5))
    }

    @Test func `a short playlist is recorded from its first segment`() throws {
        var recording = recording(of: 60)
        #expect(numbers(recording.received(try media(0..<2), asked: moment(0), now: moment(0))) == [0, 1])
        var late = self.recording(of: 60)
        let long = try media(5..<6, before: [5: "#EXTINF:30,\nlong.ts\n"])
        #expect(numbers(late.received(long, asked: moment(0), now: moment(0))) == [6], "the last one at least")
    }

    @Test func `it ends when it is long enough, with the programme, and after a silence`() throws {
        var long = recording(of: 7)
        #expect(numbers(long.received(try media(0..<9), asked: moment(0), now: moment(0))) == [6, 7, 8])
        #expect(numbers(long.received(try media(3..<12), asked: moment(2), now: moment(2))) == [9])
        #expect(long.end == .reached && long.end?.notice == nil)
        #expect(numbers(long.received(try media(3..<13), asked: moment(4), now: moment(4))).isEmpty)
        var ended = recording(of: 60)
        _ = ended.received(try media(0..<3), asked: moment(0), now: moment(0))
        #expect(numbers(ended.received(try media(0..<5, isEnded: true), asked: moment(2), now: moment(2))) == [3, 4])
        #expect(ended.end == .programme)
        var silent = recording(of: 600)
        _ = silent.received(try media(0..<3), asked: moment(0), now: moment(0))
        _ = silent.received(try media(0..<3), asked: moment(59), now: moment(59))
        #expect(silent.end == nil)
        _ = silent.received(try media(0..<3), asked: moment(60), now: moment(60))
        #expect(silent.end?.notice?.contains("no new segment for 60 s") == true)
    }

    @Test func `segments that came and went are told by number`() throws {
        var recording = recording(of: 60)
        _ = recording.received(try media(0..<4), asked: moment(0), now: moment(0))
        let addition = recording.received(try media(7..<9), asked: moment(9), now: moment(9))
        #expect(addition.missed == [4, 5, 6] && numbers(addition) == [7, 8])
        let jump = recording.received(try media(90_000..<90_002), asked: moment(11), now: moment(11))
        #expect(jump == LiveRecording.Addition())
        #expect(recording.end?.notice?.contains("other numbers") == true)
    }

    @Test func `numbers that stand for other segments end it`() throws {
        var back = recording(of: 60)
        _ = back.received(try media(10..<14), asked: moment(0), now: moment(0))
        #expect(numbers(back.received(try media(5..<8), asked: moment(2), now: moment(2))).isEmpty)
        #expect(back.end?.notice?.contains("numbered anew") == true)
        var renamed = recording(of: 60)
        _ = renamed.received(try media(10..<14), asked: moment(0), now: moment(0))
        let other = try media(11..<16, before: [13: "#EXTINF:2,\nother.ts\n"])
        _ = renamed.received(other, asked: moment(2), now: moment(2))
        #expect(renamed.end?.notice?.contains("numbered anew") == true)
    }

    @Test func `another initialization ends it`() throws {
        var recording = recording(of: 60)
        let map = "#EXT-X-MAP:URI=\"a.mp4\"\n"
        _ = recording.received(try media(0..<2, before: [0: map]), asked: moment(0), now: moment(0))
        let next = try media(0..<4, before: [0: map, 3: "#EXT-X-MAP:URI=\"b.mp4\"\n"])
        #expect(numbers(recording.received(next, asked: moment(2), now: moment(2))) == [2])
        #expect(recording.end?.notice?.contains("initialization") == true)
    }

    @Test func `a playlist that cannot be had is requested again a few times`() throws {
        var recording = recording(of: 60)
        _ = recording.received(try media(0..<2), asked: moment(0), now: moment(0))
        for second in 1...4 { recording.failed("404", now: moment(Double(second))) }
        #expect(recording.end == nil && recording.due == moment(5))
        _ = recording.received(try media(0..<3), asked: moment(5), now: moment(5))
        for second in 6...10 { recording.failed("404", now: moment(Double(second))) }
        #expect(recording.end?.notice?.contains("404") == true)
    }

    @Test(arguments: [("90", 90), ("90s", 90), ("30m", 1_800), ("2h", 7_200), ("168h", 604_800)])
    func `times are seconds, minutes or hours`(text: String, seconds: Int64) {
        #expect(LiveRecording.duration(parsing: text) == seconds * 1_000_000)
    }

    @Test(arguments: ["", "0", "-1", "1d", "1.5h", "169h", "m", "99999999999999999999"])
    func `other times are refused`(text: String) { #expect(LiveRecording.duration(parsing: text) == nil) }

    // MARK: the machine of its file

    private func item(_ number: Int) -> StreamFile.Item {
        StreamFile.Item(recording: StreamSegment(address: Self.address, number: UInt64(number), duration: 2))
    }

    private func machine(allowedGaps: Int = 0) -> StreamMachine {
        let file = StreamFile(content: .video, container: .transportStream, items: [item(0)])
        return StreamMachine(file, width: 2, allowedGaps: allowedGaps, isOpen: true)
    }

    @Test func `the file of a recording ends when no more follows, and not before`() {
        var machine = machine()
        #expect(machine.begin() == [.fetch(0)])
        #expect(machine.fetched(0, bytes: 1) == [.append(0)])
        #expect(machine.appended().isEmpty)
        #expect(machine.extended(by: [item(1), item(2)]) == [.fetch(1), .fetch(2)])
        #expect(machine.complete().isEmpty)
        #expect(machine.fetched(1, bytes: 1) == [.append(1)] && machine.appended().isEmpty)
        #expect(machine.fetched(2, bytes: 1) == [.append(2)] && machine.appended() == [.finish])
    }

    @Test func `a recording that is cut has what is on disk`() {
        var machine = machine()
        _ = machine.begin()
        _ = machine.fetched(0, bytes: 1)
        _ = machine.appended()
        _ = machine.extended(by: [item(1), item(2)])
        #expect(machine.cut() == [.finish] && machine.file.items.count == 1)
        #expect(machine.fetched(1, bytes: 1).isEmpty)
    }

    @Test func `a segment that has vanished fails the recording, or is a gap that is allowed`() {
        for allowed in [0, 2] {
            var machine = machine(allowedGaps: allowed)
            _ = machine.begin()
            _ = machine.fetched(0, bytes: 1)
            _ = machine.appended()
            let actions = machine.extended(by: [item(3)], missed: [item(1), item(2)])
            guard allowed == 0 else {
                #expect(actions.count == 3 && machine.gaps == [1, 2] && actions.last == .fetch(3), "\(actions)")
                continue
            }
            guard case .fail(let failure) = actions.last else {
                Issue.record("no failure: \(actions)")
                continue
            }
            #expect(failure.what == "cannot fetch segment 2" && failure.why.contains("left the playlist"))
        }
        // A 404 is final: the playlist has no other address of it.
        var machine = machine()
        _ = machine.begin()
        var gone = Failure(.notFound, "cannot fetch", at: "x", because: "404")
        gone.status = 404
        #expect(machine.failed(0, gone).contains { if case .fail = $0 { true } else { false } })
    }
}
