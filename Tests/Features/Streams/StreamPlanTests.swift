import PawlBase
import PawlStreams
import Testing

@Suite struct StreamPlanTests {
    @Test func `two segments of one resource differ by their range`() throws {
        let address = try WebAddress.parse("http://h/a.ts").address
        let first = StreamSegment(address: address, range: ByteRange(0, 188), number: 0, duration: 1)
        let second = StreamSegment(address: address, range: ByteRange(188, 376), number: 0, duration: 1)
        #expect(first != second)
    }

    @Test func `the mark of a part file survives as a text, that of an earlier version too`() {
        var mark = StreamMark(identity: "abc")
        mark.steps = [StreamMark.Step(next: 3, offset: 900, sum: .max), StreamMark.Step(next: 1, offset: 0, sum: 0)]
        (mark.gaps, mark.container) = ([2], .transportStream)
        #expect(StreamMark(mark.text) == mark)
        #expect(StreamMark("stream-1 abc 3@900")?.steps == [StreamMark.Step(next: 3, offset: 900)])
        for text in ["stream-1 abc 3@900@x", "stream-1 abc 3@900@1@2", "stream-1 abc 3", "stream-1"] {
            #expect(StreamMark(text) == nil, "\(text)")
        }
    }
}
