// Verification and publishing after the last byte.
import PawlBase
import PawlJournal

extension DownloadMachine {
    /// All bytes are on disk.
    package mutating func complete() -> [Action] {
        let length = written
        if let wanted = plan.length, wanted != length {
            return cannotAccept(
                because: DownloadMachine.evidence(length, instead: wanted), advice: "give the right length")
        }
        if let expected = plan.selectedLength(of: continuity.representation?.total), expected != length {
            // The version that won has another length: the file is never cut or padded to fit.
            return fail(
                Failure(
                    .cannotResume, "cannot finish", at: file.name ?? sources[0].given.redacted,
                    because: LocalizableMessage(
                        "partial-has-other-size", "the partial file has \(length) bytes, the content \(expected)"),
                    remedy: plan.keepsPartial && file.existingLength == nil ? "remove it to start over" : ""),
                givesBack: true)
        }
        if let unsettled = settlePieces() { return unsettled }
        if file.existingLength == length, !plan.hasDigest, plan.verification.least == .none {
            return [.restoreOriginal, enter(.finished), .notify(.finished(length: length, wasThere: true))]
        }
        return verify(length: length)
    }

    static func evidence(_ length: Int64, instead wanted: Int64) -> LocalizableMessage {
        .init("size-unexpected", "it has \(length) bytes instead of the expected \(wanted)")
    }

    static func evidence(_ digest: [UInt8], instead wanted: ExpectedDigest) -> LocalizableMessage {
        let (found, expected) = (Hexadecimal.text(digest), Hexadecimal.text(wanted.checksum.digest))
        let place =
            wanted.source.isEmpty
            ? wanted.level.message
            : LocalizableMessage("level-with-source", "\(wanted.level.message): \(wanted.source)")
        guard wanted.alternatives.isEmpty else {
            return LocalizableMessage(
                "digest-mismatch-guessed",
                "expected \(expected) (\(place)), which does not state the type; no supported type fits, \(wanted.checksum.algorithm.rawValue) is \(found). It may be of another type, such as BLAKE3"
            )
        }
        return LocalizableMessage(
            "digest-mismatch", "expected \(wanted.checksum.algorithm.rawValue) \(expected) (\(place)), got \(found)")
    }

    mutating func publish() -> [Action] {
        let modified = plan.keepsServerTime ? continuity.representation?.validators.lastModified : nil
        return [enter(.publishing), .publish(length: written, modified: modified)]
    }

    /// The bytes are not the expected ones: what was added to an existing file is discarded.
    mutating func cannotAccept(
        _ what: String = "cannot accept", because why: LocalizableMessage, advice: Remedy
    ) -> [Action] {
        let remedy: Remedy =
            if file.existingLength != nil {
                "the file is unchanged; \(advice), choose another name, or change \(.option(.existingFile))"
            } else { kept("\(advice), or remove it to start over", otherwise: advice) }
        let place = file.name ?? sources[0].given.redacted
        return fail(Failure(.checksumMismatch, what, at: place, because: why, remedy: remedy), givesBack: true)
    }

    /// The file is in its place.
    package mutating func published() -> [Action] {
        guard phase == .publishing else { return [] }
        return [enter(.finished), .notify(.finished(length: written, wasThere: false))]
    }
}
