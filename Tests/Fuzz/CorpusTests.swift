import PawlTestKit
import Testing

/// The fuzz targets' laws over their corpora: the seeds, earlier findings, and small mutations of both.
@Suite struct `Fuzz corpora` {
    private static let folder = FileSystem.folder(of: #filePath) + "/Corpus"

    private static func inputs(_ target: FuzzTarget) -> [(name: String, bytes: [UInt8])] {
        let folder = "\(folder)/\(target.rawValue)"
        return FileSystem.names(in: folder).compactMap { name in
            FileSystem.contents("\(folder)/\(name)").map { (name, $0) }
        }
    }

    @Test(arguments: FuzzTarget.allCases) func `no input of the corpus breaks a law`(target: FuzzTarget) throws {
        let inputs = Self.inputs(target)
        try #require(!inputs.isEmpty, "every target has seeds")
        for (name, bytes) in inputs {
            do throws(BrokenLaw) { try target.check(bytes) } catch { Issue.record("\(name): \(error)") }
        }
    }

    @Test(arguments: FuzzTarget.allCases) func `no mutation of an input of the corpus breaks a law`(
        target: FuzzTarget
    ) throws {
        var dice = Damage(seed: 4)
        for (name, bytes) in Self.inputs(target) {
            for round in 0..<200 {
                let damaged = dice.damaged(bytes)
                do throws(BrokenLaw) { try target.check(damaged) } catch {
                    Issue.record("\(name), round \(round), \(damaged): \(error)")
                }
            }
        }
    }
}

/// Small mutations, the same for the same seed.
private struct Damage {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// splitmix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func index(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<1 + index(4) where !bytes.isEmpty {
            let place = index(bytes.count)
            switch index(5) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 1: bytes[place] ^= 1 << UInt8(index(8))
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(bytes[index(bytes.count)], at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + index(8)))
            }
        }
        return bytes
    }
}
