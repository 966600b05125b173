import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlJournal

@Suite struct `Bytes that identify a content` {
    private static let count = Int(ComparisonSample.length)

    private static func repeated(_ period: Int, count: Int = count) -> [UInt8] {
        let pattern = Payload(seed: UInt64(period), length: Int64(period)).bytes
        return (0..<count).map { pattern[$0 % period] }
    }

    @Test(arguments: [1, 2, 3, 4, 16, 57, 511, 512, 1_000, 4_096, 8_176]) func `a pattern that is repeated does not`(
        period: Int
    ) { #expect(!ComparisonSample.identifies(Self.repeated(period))) }

    @Test(arguments: [1, 100, 4_096, 65_536]) func `equal bytes do not`(count: Int) {
        for byte: UInt8 in [0, 0xFF, 0x41] {
            #expect(!ComparisonSample.identifies([UInt8](repeating: byte, count: count)))
        }
        #expect(!ComparisonSample.identifies([]))
    }

    @Test func `a few bytes among zeros do not`() {
        var bytes = [UInt8](repeating: 0, count: Self.count)
        for index in 0..<100 { bytes[index * 600] = UInt8(index + 1) }
        #expect(!ComparisonSample.identifies(bytes))
        bytes.replaceSubrange(0..<4_096, with: Payload(seed: 1, length: 4_096).bytes)
        #expect(!ComparisonSample.identifies(bytes), "most of what is compared has no information")
        bytes.replaceSubrange(0..<32_768, with: Payload(seed: 1, length: 32_768).bytes)
        #expect(ComparisonSample.identifies(bytes))
    }

    @Test(arguments: [40, 4_096, 65_536]) func `others do`(count: Int64) {
        #expect(ComparisonSample.identifies(Payload(seed: 3, length: count).bytes))
        let lines = (0..<count).map { "line \($0) of a text\n" }.joined().utf8.prefix(Int(count))
        #expect(ComparisonSample.identifies(Array(lines)))
    }

    @Test func `candidates are on disk, elsewhere, each once, and the nearest come first`() {
        let disk = ByteRangeSet([ByteRange(0, 3_000_000), ByteRange(5_000_000, 5_010_000)])
        let compared = ByteRange(3_000_000 - ComparisonSample.length, 3_000_000)
        let places = ComparisonSample.candidates(near: compared, on: disk)
        #expect(places.first == ByteRange(compared.start - ComparisonSample.length, compared.start))
        #expect(places.contains(ByteRange(5_000_000, 5_010_000)))
        #expect(places.contains { $0.start == 0 })
        #expect(Set(places).count == places.count && !places.contains(compared))
        for place in places { #expect(disk.contains(place) && place.count <= ComparisonSample.length) }
        #expect(ComparisonSample.candidates(near: ByteRange(0, 1000), on: ByteRangeSet([ByteRange(0, 1000)])).isEmpty)
    }

    @Test(arguments: [1, 100_000, 3_000_000, 1 << 40] as [Int64]) func `places that are spread reach from end to end`(
        length: Int64
    ) {
        let disk = ByteRangeSet([ByteRange(0, length)])
        let places = ComparisonSample.spread(over: disk)
        #expect(places.first?.start == 0 && places.contains { $0.end == length } && places.count <= 32)
        for place in places { #expect(disk.contains(place) && place.count <= ComparisonSample.length) }
        let many = ByteRangeSet((0..<100).map { ByteRange($0 * 100_000, $0 * 100_000 + 50_000) })
        #expect(ComparisonSample.spread(over: many).count <= 32)
    }
}
