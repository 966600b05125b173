import PawlBase
import PawlTestKit
import Testing

struct ByteSearchTests {
    @Test func `a byte is found where a search one by one finds it`() {
        var dice = Dice(seed: 1)
        // Neighbours of the wanted bytes, with and without the high bit: a borrow between bytes must not count.
        let values: [UInt8] = [0, 1, 9, 10, 11, 0x7F, 0x80, 0x81, 0x8A, 0xFE, 0xFF]
        var found = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...40, using: &dice)
            let bytes = (0..<length).map { _ in values[Int.random(in: 0..<values.count, using: &dice)] }
            let start = Int.random(in: 0...length, using: &dice)
            for wanted in values {
                let index = bytes.firstIndex(of: wanted, from: start)
                #expect(index == bytes[start...].firstIndex(of: wanted), "\(wanted) in \(bytes) from \(start)")
                if index != nil { found += 1 }
            }
        }
        #expect(found > 10_000)
    }
}
