import PawlCore

// What a request asks of a download that the queue has already; each option's rule stands in the table of fields.
extension StoredOptions {
    /// Whether `wish` is for another file than these options are for.
    ///
    /// `name` is the one that the known download works under.
    func isAnotherFile(_ wish: StoredOptions, name: String?) -> Bool {
        Self.fields.contains { field in
            guard field.whenKnown == .anotherFile else { return false }
            let (known, wanted) = (field.values(self), field.values(wish))
            if known == wanted { return false }
            switch field.name {
            // The part of the content is what the file is: none given means all of it.
            case "range": return true
            case "name": return wish.options.fileName.map { $0 != newName ?? name } ?? false
            case _: return wanted != field.values(Self.untouched)
            }
        }
    }

    /// Whether `wish` says the same of what the file is, and nothing less.
    func isSameFile(_ wish: StoredOptions) -> Bool {
        Self.fields.allSatisfy { $0.whenKnown != .anotherFile || $0.values(self) == $0.values(wish) }
    }

    /// The first option by which `wish` contradicts what the content must be.
    ///
    /// With `isFinished` there is nothing left to hold to it.
    func contradiction(_ wish: StoredOptions, isFinished: Bool) -> String? {
        Self.fields.first { field in
            guard field.whenKnown == .proof else { return false }
            let (known, wanted) = (field.values(self), field.values(wish))
            guard !wanted.isEmpty, wanted.map({ $0.lowercased() }) != known.map({ $0.lowercased() }) else {
                return false
            }
            return isFinished || !known.isEmpty
        }?.name
    }

    /// These, with what `wish` says otherwise than by default.
    func taking(over wish: StoredOptions) -> StoredOptions {
        var merged = StoredOptions()
        for field in Self.fields {
            let wanted = field.values(wish)
            let isGiven = wanted != field.values(Self.untouched)
            let isTaken =
                switch field.whenKnown {
                case .takenOver: isGiven
                case .proof: isGiven && field.values(self).isEmpty
                case .anotherFile, .kept: false
                }
            for value in isTaken ? wanted : field.values(self) { field.take(&merged, value) }
        }
        return merged
    }
}
