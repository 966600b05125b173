#if Queue
// Compares a request with a known download of the same URL; the table of fields has each option's rule.
import PawlBase

extension StoredOptions {
    /// Whether `added` is for another file than these options.
    ///
    /// `name` is the known download's working name.
    func isAnotherFile(_ added: StoredOptions, name: String?) -> Bool {
        Self.fields.contains { field in
            guard field.whenKnown == .anotherFile else { return false }
            let (known, wanted) = (field.values(self), field.values(added))
            if known.hasSameBytes(as: wanted) { return false }
            switch field.name {
            // The range determines the file: none means the whole content.
            case "range": return true
            // Without one the playlist itself is wanted, unless its response is to decide.
            case "stream": return added.stream != nil || !added.detectsStreams
            case "name": return added.options.fileName.map { !(newName ?? name).hasSameBytes(as: $0) } ?? false
            case _: return !wanted.hasSameBytes(as: field.standard)
            }
        }
    }

    /// Whether `added` specifies exactly the same file.
    func isSameFile(_ added: StoredOptions) -> Bool {
        Self.fields.allSatisfy { $0.whenKnown != .anotherFile || $0.values(self).hasSameBytes(as: $0.values(added)) }
    }

    /// The first option of `added` that contradicts the expected content.
    ///
    /// With `isFinished` the content can no longer be checked.
    func contradiction(_ added: StoredOptions, isFinished: Bool) -> String? {
        Self.fields.first { field in
            guard field.whenKnown == .proof else { return false }
            if field.name == "checksum" {
                // Of several, further ones are added to the known.
                let (known, wanted) = (given, added.given)
                return isFinished
                    ? !wanted.allSatisfy(known.contains)
                    : !known.isEmpty && !wanted.isEmpty && !wanted.contains(where: known.contains)
            }
            let (known, wanted) = (field.values(self), field.values(added))
            guard !wanted.isEmpty, wanted.map({ $0.lowercased() }) != known.map({ $0.lowercased() }) else {
                return false
            }
            return isFinished || !known.isEmpty
        }?.name
    }

    /// These options, with those of `added` that differ from the default.
    func taking(over added: StoredOptions) -> StoredOptions {
        var merged = StoredOptions()
        for field in Self.fields {
            let wanted = field.values(added)
            let isGiven = !wanted.hasSameBytes(as: field.standard)
            let isTaken =
                switch field.whenKnown {
                case .takenOver: isGiven
                case .proof: isGiven && field.values(self).isEmpty
                case .anotherFile, .kept: false
                }
            for value in isTaken ? wanted : field.values(self) { _ = field.take(&merged, value) }
        }
        return merged
    }
}
#endif
