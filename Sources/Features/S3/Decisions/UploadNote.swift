package import PawlBase
package import PawlJournal

/// What another machine has to know to continue an upload: a small object beside its target, `KEY.pawl`.
///
/// The parts themselves are in the store's own list.
package struct UploadNote: Hashable, Sendable {
    package var upload: String
    package var sizes: PartSizes
    /// The download's facts, as in a journal.
    package var facts: JournalFacts

    package init(upload: String, sizes: PartSizes, facts: JournalFacts) {
        self.upload = upload
        self.sizes = sizes
        self.facts = facts
    }

    /// The address of the note beside `target`.
    package static func address(beside target: WebAddress) -> WebAddress {
        var address = target
        address.path += suffix
        return address
    }

    /// Whether a note may be beside `target`: keys have at most 1,024 bytes.
    package static func fits(beside target: WebAddress) -> Bool {
        target.key.utf8.count + suffix.utf8.count <= 1024
    }

    private static let suffix = ".pawl"

    private static let version: Int64 = 1
    package static let longest = 1 << 20

    package var bytes: [UInt8] {
        let value: JSON = [
            "pawlUpload": .number(Self.version), "upload": .string(upload), "partSize": .number(sizes.first),
            "grows": .bool(sizes.grows), "facts": .string(Base64.encode(facts.encoded)),
        ]
        return value.utf8
    }

    /// `nil` for what no version of Pawl wrote that this one knows.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let value = try? JSON.parse(bytes),
            value["pawlUpload"]?.integer == Self.version, let upload = value["upload"]?.string, !upload.isEmpty,
            upload.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), upload.utf8.count <= 4096,
            let size = value["partSize"]?.integer, PartSizes.single...(5 << 30) ~= size,
            let grows = value["grows"]?.bool, let encoded = value["facts"]?.string.flatMap({ Base64.decode($0.utf8) }),
            let facts = JournalFacts(encoded: encoded)
        else { return nil }
        self.init(upload: upload, sizes: PartSizes(first: size, grows: grows), facts: facts)
    }
}
