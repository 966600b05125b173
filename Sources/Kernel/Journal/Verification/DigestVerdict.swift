package import PawlBase

/// What digests of the content's bytes show, compared with all that is expected of them.
package enum DigestVerdict: Hashable, Sendable {
    /// All agree; the one that proves most is reported.
    case verified(VerificationResult)
    /// Nothing could be compared.
    case unverified
    /// The content has another digest than a source states.
    case wrong(ExpectedDigest, got: Checksum)
    /// Two sources state different digests of the same bytes.
    case contradiction(ExpectedDigest, ExpectedDigest)

    /// Compares what is expected with the digests of the bytes in the file.
    ///
    /// For a coded response `decoded` has those of the content without its coding, since fronts state the digest of
    /// either form; without `isDecodable` it could not be computed, and a mismatch says nothing.
    package init(
        _ expected: [ExpectedDigest], computed: [Checksum], decoded: [Checksum] = [], isCoded: Bool = false,
        isDecodable: Bool = true
    ) {
        var agreed: ExpectedDigest?
        var wrong: (ExpectedDigest, Checksum)?
        for var digest in expected {
            let algorithm = digest.checksum.algorithm
            guard let got = computed.first(where: { $0.algorithm == algorithm }) else { continue }
            let mayBeDecoded = isCoded && digest.level != .given
            let candidates = [digest.checksum] + digest.alternatives
            let match = candidates.first { computed.contains($0) || mayBeDecoded && decoded.contains($0) }
            if let match {
                digest.checksum = match
                if agreed.map({ Self.proves(digest, moreThan: $0) }) ?? true { agreed = digest }
            } else if !(mayBeDecoded && !isDecodable), digest.isDecided(by: computed), wrong == nil {
                wrong = (digest, got)
            }
        }
        if !isCoded, wrong != nil, let (first, second) = expected.contradiction {
            self = .contradiction(first, second)
        } else if let wrong {
            self = .wrong(wrong.0, got: wrong.1)
        } else if let agreed {
            self = .verified(VerificationResult(level: agreed.level, checksum: agreed.checksum, source: agreed.source))
        } else {
            self = .unverified
        }
    }

    /// A digest that nobody can forge proves more than a check from a better source of the same kind of trust.
    private static func proves(_ one: ExpectedDigest, moreThan other: ExpectedDigest) -> Bool {
        if one.level != other.level { return one.level > other.level }
        return one.checksum.algorithm.rank < other.checksum.algorithm.rank
    }
}

extension [ExpectedDigest] {
    /// The first two that certainly state different digests of one algorithm.
    package var contradiction: (ExpectedDigest, ExpectedDigest)? {
        for (place, first) in enumerated() where first.alternatives.isEmpty {
            for second in self[(place + 1)...]
            where second.alternatives.isEmpty && first.checksum.algorithm == second.checksum.algorithm
                && first.checksum != second.checksum
            { return (first, second) }
        }
        return nil
    }

    /// The algorithms to compute, in the order of what they prove.
    package var algorithms: [HashAlgorithm] {
        let all = map(\.checksum.algorithm)
        return HashAlgorithm.allCases.filter(all.contains)
    }

    /// The algorithms to compute besides those of `computed`: where a digest does not match whose algorithm was guessed,
    /// those that it may be of as well.
    package func otherAlgorithms(than computed: [Checksum]) -> [HashAlgorithm] {
        let open = filter { digest in
            !computed.contains(digest.checksum) && !digest.alternatives.contains(where: computed.contains)
        }
        let known = computed.map(\.algorithm)
        let all = open.flatMap { $0.alternatives.map(\.algorithm) }
        return HashAlgorithm.allCases.filter { all.contains($0) && !known.contains($0) }
    }
}

extension ExpectedDigest {
    /// Whether every digest was computed that this one may be.
    fileprivate func isDecided(by computed: [Checksum]) -> Bool {
        alternatives.allSatisfy { other in computed.contains { $0.algorithm == other.algorithm } }
    }
}

extension ExpectedDigest: CustomStringConvertible {
    /// `sha-256=HEX (origin: repr-digest sha-256 of https://…)`.
    package var description: String {
        let place = source.isEmpty ? level.name : "\(level.name): \(source)"
        return "\(checksum.text) (\(place))"
    }
}
