import PawlBase
import PawlTestKit
import Testing

/// The same set as a bit per byte.
private struct Bitmap {
    var bits: [Bool]

    init(_ size: Int) { bits = [Bool](repeating: false, count: size) }

    mutating func set(_ range: ByteRange, _ value: Bool) {
        for index in Int(range.start)..<Int(range.end) { bits[index] = value }
    }

    func runs(of value: Bool, in range: ByteRange) -> [ByteRange] {
        var runs: [ByteRange] = []
        for offset in range.start..<range.end where bits[Int(offset)] == value {
            if let last = runs.last, last.end == offset {
                runs[runs.count - 1].end = offset + 1
            } else {
                runs.append(ByteRange(offset, offset + 1))
            }
        }
        return runs
    }
}

@Suite struct ByteRangeSetTests {
    private static let size: Int64 = 60

    private static func range(_ dice: inout Dice) -> ByteRange {
        let start = Int64.random(in: 0...size, using: &dice)
        return ByteRange(start, Int64.random(in: start...min(size, start + 12), using: &dice))
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func `a set agrees with a bitmap after any operations`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let all = ByteRange(0, Self.size)
        for _ in 0..<40 {
            var set = ByteRangeSet()
            var map = Bitmap(Int(Self.size))
            for _ in 0..<30 {
                let range = Self.range(&dice)
                let inserts = dice.chance(3, in: 5)
                if inserts { set.insert(range) } else { set.remove(range) }
                map.set(range, inserts)
                let probe = Self.range(&dice)
                let runs = map.runs(of: true, in: all)
                #expect(set.runs == runs)
                #expect(set.count == runs.reduce(0) { $0 + $1.count })
                #expect(set.upperBound == runs.last?.end ?? 0)
                #expect(set.isEmpty == runs.isEmpty)
                #expect(set.prefix == (map.bits.first == true ? runs.first?.end ?? 0 : 0))
                #expect(set.contains(probe) == map.runs(of: false, in: probe).isEmpty)
                #expect(set.intersects(probe) == !map.runs(of: true, in: probe).isEmpty)
                #expect(set.gaps(in: probe) == map.runs(of: false, in: probe))
                #expect(set.clipped(to: probe.end).runs == map.runs(of: true, in: ByteRange(0, probe.end)))
            }
        }
    }

    @Test func `a union holds both sets and nothing else`() {
        var dice = Dice(seed: 5)
        for _ in 0..<200 {
            let left = (0..<4).map { _ in Self.range(&dice) }
            let right = (0..<4).map { _ in Self.range(&dice) }
            var union = ByteRangeSet(left)
            union.insert(ByteRangeSet(right))
            #expect(union == ByteRangeSet(right + left))
            #expect(ByteRangeSet(left).isSubset(of: union))
            #expect(union.isSubset(of: ByteRangeSet(left)) == (union == ByteRangeSet(left)))
        }
    }

    @Test func `ranges know their intersection`() {
        let range = ByteRange(10, 20)
        #expect(range.intersection(ByteRange(15, 30)) == ByteRange(15, 20))
        #expect(range.intersection(ByteRange(20, 30)) == nil)
        #expect(range.contains(10) && range.contains(19) && !range.contains(20) && !range.contains(9))
        #expect(range.contains(ByteRange(10, 20)) && !range.contains(ByteRange(9, 20)))
        #expect(range.count == 10 && !range.isEmpty && ByteRange(3, 3).isEmpty)
        #expect(range.description == "[10, 20)")
    }
}
