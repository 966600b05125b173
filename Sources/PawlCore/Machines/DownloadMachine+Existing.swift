// Existing files that are kept as they are.
extension DownloadMachine {
    /// Fetches nothing; a given checksum is verified against the existing file.
    mutating func keepExisting() -> [Action] {
        guard let checksum = plan.checksum else { return finishExisting() }
        keepsExisting = true
        return [enter(.verifying), .verify(checksum, length: map.total ?? 0)]
    }

    private mutating func finishExisting() -> [Action] {
        [enter(.finished), .tell(.finished(length: map.total ?? 0, wasThere: true))]
    }

    mutating func existingDigested(_ digest: [UInt8], _ checksum: Checksum) -> [Action] {
        guard digest != checksum.digest else { return finishExisting() }
        return fail(
            Failure(
                .checksumMismatch,
                "cannot accept the existing file",
                at: name ?? sources[0].given.redacted,
                because: DownloadMachine.evidence(digest, instead: checksum),
                remedy: "give the right checksum, choose another name, or change \(.setting(.existingFile))"
            )
        )
    }
}
