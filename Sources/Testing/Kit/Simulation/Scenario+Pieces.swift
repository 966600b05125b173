import Pawl
package import PawlBase
import PawlCore
import PawlEngine

// Downloads whose pieces have digests, and faults in their bytes.
extension Scenario {
    /// A seed for a part file, with some wrong bytes.
    package struct Seeding: Sendable, Hashable {
        package var done: ByteRangeSet
        package var wrong: [Int64]
    }

    /// Gives some downloads pieces, and a mirror or a node with wrong ones, damage on disk after a kill, or a wrong seed.
    ///
    /// Uses a random generator of its own, so that worlds without pieces stay the same.
    mutating func addPieces(_ download: inout Download, _ file: SimulatedFile) {
        var luck = Dice(seed: seed &* 613 &+ UInt64(downloads.count))
        let (plan, length) = (download.job.plan, file.payload.length)
        guard luck.chance(0.15), plan.selection == .whole, plan.checksums.isEmpty, download.existing == nil, length > 2,
            !isFickle(file), let pieces = Self.pieces(of: file.payload, &luck)
        else { return }
        download.job.plan.pieces = pieces
        download.job.plan.length = length
        let kind = luck.below(5)
        if kind == 0 || kind == 4 { addBadMirror(&download, file, pieces, &luck) }
        if kind == 1 {
            let bad = Self.damaged(file.payload, pieces, &luck)
            servers[plan.sources[0].host]?.files[download.path]?.badNode = .init(
                payload: bad, odds: luck.pick([0.1, 0.3, 0.5]))
            // It may serve the same wrong piece each time.
            download.canFinish = false
        }
        if kind == 2 || kind == 4 {
            for _ in 0..<luck.number(1...3) { foreignChanges.append(.damage(downloads.count, luck.next())) }
            atEvents[luck.number(20...400), default: []].append(.crash(.kill))
        }
        if kind == 3 { addSeed(&download, length, &luck) }
    }

    private static func pieces(of payload: Payload, _ luck: inout Dice) -> PieceHashes? {
        let length = max(1, payload.length / Int64(luck.number(1...20)))
        let digests = stride(from: 0, to: payload.length, by: Int(length)).map { start in
            MessageDigest5.digest(payload.bytes(in: ByteRange(start, min(payload.length, start + length))))
        }
        return PieceHashes(.md5, length: length, digests: digests)
    }

    /// The content with a wrong byte in some pieces.
    private static func damaged(_ payload: Payload, _ pieces: PieceHashes, _ luck: inout Dice) -> Payload {
        var bytes = payload.bytes
        for _ in 0..<luck.number(1...4) {
            let range = pieces.range(luck.below(pieces.count), in: payload.length)
            bytes[Int(luck.bytes(range.start...(range.end - 1)))] ^= 0x55
        }
        return Payload(bytes)
    }

    private mutating func addBadMirror(
        _ download: inout Download, _ file: SimulatedFile, _ pieces: PieceHashes, _ luck: inout Dice
    ) {
        var copy = file
        copy.payload = Self.damaged(file.payload, pieces, &luck)
        let host = "bad\(downloads.count).test"
        serve(copy, download.path, at: host)
        let address = Self.address(host, download.path)
        download.job.plan.sources.insert(address, at: luck.below(download.job.plan.sources.count + 1))
    }

    private func addSeed(_ download: inout Download, _ length: Int64, _ luck: inout Dice) {
        var done = ByteRangeSet()
        for _ in 0..<luck.number(1...3) {
            let start = luck.bytes(0...(length - 1))
            done.insert(ByteRange(start, luck.bytes((start + 1)...length)))
        }
        let wrong = (0..<luck.number(0...4)).map { _ -> Int64 in
            let run = luck.pick(done.runs)
            return luck.bytes(run.start...(run.end - 1))
        }
        download.seeding = Seeding(done: done, wrong: Array(Set(wrong)).sorted())
        download.job.plan.isSeeded = true
        download.job.fileName = download.job.fileName ?? download.ownName
    }

    /// Whether nothing is known of the content of the download that pieces would have to agree with.
    private func isOpen(_ download: Download) -> Bool {
        let plan = download.job.plan
        return plan.selection == .whole && download.nextSelection == nil && plan.checksums.isEmpty && plan.pieces == nil
            && download.existing == nil && download.seeding == nil
    }

    /// Gives some downloads the digests of other content, whose pieces are more or fewer, and some coded bodies those of the
    /// content.
    mutating func addUnfitPieces(_ download: inout Download, _ file: SimulatedFile) {
        var luck = Dice(seed: seed &* 619 &+ UInt64(downloads.count))
        guard luck.chance(0.03), isOpen(download), file.payload.length > 2 else { return }
        let length = luck.pick([file.payload.length / 2, file.payload.length * 2 + 1])
        let described = file.coded == nil ? Payload(seed: luck.next(), length: length) : file.payload
        guard let pieces = Self.pieces(of: described, &luck), !pieces.fits(file.payload.length) || file.coded != nil
        else { return }
        download.job.plan.pieces = pieces
        download.hasUnfitPieces = true
        download.canFinish = false
    }

    /// Gives some downloads a finished file that is kept: the content, one with a wrong piece or one of another length.
    mutating func keepFile(_ download: inout Download, _ file: SimulatedFile) {
        var luck = Dice(seed: seed &* 617 &+ UInt64(downloads.count))
        guard luck.chance(0.03), isOpen(download), file.payload.length > 2, !isFickle(file),
            let pieces = Self.pieces(of: file.payload, &luck)
        else { return }
        let kind = luck.below(3)
        let payload = kind == 1 ? Self.damaged(file.payload, pieces, &luck) : file.payload
        download.existing = payload.bytes + (kind == 2 ? payload.bytes : [])
        download.job.ifExists = .skip
        download.job.plan.pieces = pieces
        download.job.fileName = download.job.fileName ?? download.ownName
        download.canFinish = kind == 0
    }
}
