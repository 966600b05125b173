// Existing files: those that are kept as they are, and those that are continued.
extension DownloadMachine {
    /// Closes the part file until the download continues; an existing file to which nothing was added has its
    /// name again.
    func letGo() -> Action {
        existingLength == written ? .restoreOriginal : .close(keeping: !map.done.isEmpty)
    }

    /// After a failure an existing file has its name again.
    ///
    /// Bytes that continue it without a gap stay, if a comparison has shown that they belong to it.
    func restoreOriginal(_ length: Int64, keepsAdded: Bool) -> Action {
        let end = map.done.prefix
        guard keepsAdded, !plan.hasDigest, samples.isEmpty, end > length else { return .restoreOriginal }
        return .restoreExtended(length: end)
    }

    /// What is left after a failure, followed by `advice`; `otherwise` where no partial file is left.
    func kept(_ advice: Remedy, otherwise: Remedy = "") -> Remedy {
        guard plan.keepsPartial, written > 0 else { return otherwise }
        return existingLength == nil || wasContinued
            ? "the partial file is kept; \(advice)" : "the file is kept; \(advice)"
    }

    /// Fetches nothing; a given checksum is verified against the existing file.
    mutating func keepExisting() -> [Action] {
        if let wanted = plan.length, let keptLength, keptLength != wanted {
            return failExisting(
                DownloadMachine.evidence(keptLength, instead: wanted),
                advice: "give the right length"
            )
        }
        guard plan.hasDigest else { return finishExisting() }
        keepsExisting = true
        return [enter(.verifying), .verify(expected.algorithms, length: map.total ?? 0)]
    }

    mutating func finishExisting() -> [Action] {
        [enter(.finished), .notify(.finished(length: map.total ?? 0, wasThere: true))]
    }

    mutating func existingDigested(_ computed: [Checksum]) -> [Action] {
        switch DigestVerdict(expected, computed: computed) {
        case .verified(let result):
            verification = result
            return finishExisting()
        case .unverified: return uncomputed.map { failExisting($0, advice: "\(.resume)") } ?? finishExisting()
        case .wrong(let digest, let got):
            return failExisting(DownloadMachine.evidence(got.digest, instead: digest))
        case .contradiction(let first, let second):
            return failExisting(.digestsContradict(first, second))
        }
    }

    mutating func failExisting(
        _ why: LocalizableMessage,
        advice: Remedy = "give the right checksum"
    ) -> [Action] {
        fail(
            Failure(
                .checksumMismatch,
                "cannot accept the existing file",
                at: name ?? sources[0].given.redacted,
                because: why,
                remedy: "\(advice), choose another name, or change \(.option(.existingFile))"
            )
        )
    }
}
