package import PawlBase

extension HLSMedia {
    /// Takes the addresses of another playlist of the same variant (RFC 8216 §6.2.4) as mirrors, if it has the same segments;
    /// returns whether it does.
    ///
    /// `origin`: that of the given playlist, whose logins no mirror elsewhere may cost its own segments.
    package mutating func take(mirrors other: HLSMedia, of origin: Origin) -> Bool {
        guard isEnded, other.isEnded, segments.count == other.segments.count else { return false }
        let pairs = zip(segments, other.segments)
        guard pairs.allSatisfy({ $0.segment.isSame(as: $1.segment) }) else { return false }
        for index in segments.indices {
            let (own, mirror) = (segments[index].segment.address, other.segments[index].segment.address)
            guard own != mirror, (own.origin == origin) == (mirror.origin == origin) else { continue }
            segments[index].segment.mirrors.append(mirror)
        }
        return true
    }
}

extension StreamSegment {
    fileprivate func isSame(as other: StreamSegment) -> Bool {
        number == other.number && duration == other.duration && range == other.range && isGap == other.isGap
            && key?.initializationVector == other.key?.initializationVector
            && key?.address.lastPathComponent == other.key?.address.lastPathComponent
            && address.lastPathComponent == other.address.lastPathComponent
    }
}
