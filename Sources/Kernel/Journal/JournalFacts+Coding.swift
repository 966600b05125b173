import PawlBase

// The facts as bytes of a journal's header.
extension JournalWriter {
    mutating func put(_ facts: JournalFacts) {
        putCount(UInt64(facts.sources.count))
        for source in facts.sources { put(source) }
        put(facts.name)
        put(facts.representation)
    }

    private mutating func put(_ representation: Representation) {
        put(representation.selection)
        put(representation.base ?? -1)
        put(representation.total ?? -1)
        put(optional: representation.coding)
        put(optional: representation.mediaType)
        putCount(UInt64(representation.records.count))
        for record in representation.records {
            put(record.source)
            put(record.host)
            put(record.stability.rawValue)
            put(record.validators)
        }
    }

    /// Written last, and only if there is something: programs that do not know it can read all other headers.
    mutating func putTail(of representation: Representation) {
        let joints = representation.openJoints
        let hasMore = !representation.digests.isEmpty || representation.damage != nil || !joints.isEmpty
        if let suspect = representation.suspect {
            put(suspect.total ?? -1)
            put(optional: suspect.mediaType)
        } else if hasMore {
            put(JournalLayout.noSuspect)
        }
        guard hasMore else { return }
        put(optional: representation.damage)
        putCount(UInt64(representation.digests.count))
        for digest in representation.digests {
            put(digest.address)
            put(digest.field)
            put(digest.checksum.text)
        }
        guard !joints.isEmpty else { return }
        putCount(UInt64(joints.count))
        for joint in joints { put(joint) }
    }

    private mutating func put(_ validators: Validators) {
        put(validators.entityTag.map { UInt8($0.isWeak ? 2 : 1) } ?? 0)
        if let tag = validators.entityTag { put(tag.opaque) }
        put(validators.lastModified == nil ? UInt8(0) : 1 + validators.dateStrength.rawValue)
        if let time = validators.lastModified { put(time.seconds) }
    }

    private mutating func put(_ selection: RequestedRange?) {
        let (kind, first, second): (UInt8, Int64, Int64) =
            switch selection {
            case nil: (0, 0, 0)
            case .whole: (1, 0, 0)
            case .from(let start): (2, start, 0)
            case .closed(let range): (3, range.start, range.end)
            case .suffix(let count): (4, count, 0)
            }
        put(kind)
        put(first)
        put(second)
    }

    /// A count that is one more than the text's own, 0 for none.
    private mutating func put(optional text: String?) {
        putCount(text.map { UInt64($0.utf8.count) + 1 } ?? 0)
        bytes.append(contentsOf: text.map { Array($0.utf8) } ?? [])
    }
}

extension JournalReader {
    mutating func takeFacts() -> JournalFacts? {
        guard let sources = takeSources(), let name = takeText(), let representation = takeRepresentation() else {
            return nil
        }
        return JournalFacts(sources: sources, representation: representation, name: name)
    }

    /// Reads the facts of a journal before version 3.
    ///
    /// It does not record the address and the host of its tag and date, nor the requested part of the
    /// resource: only a comparison of bytes can prove its content.
    mutating func takeOldFacts() -> JournalFacts? {
        guard let sources = takeSources(), let name = takeText(), let flags = take(UInt8.self), flags < 16 else {
            return nil
        }
        var representation = Representation(selection: nil, base: nil)
        if flags & 1 != 0 {
            guard let total = take(Int64.self), 0...ByteRange.longestFile ~= total else { return nil }
            representation.total = total
        }
        if flags & 2 != 0, takeText() == nil { return nil }
        if flags & 8 != 0, take(Int64.self) == nil { return nil }
        return JournalFacts(sources: sources, representation: representation, name: name)
    }

    private mutating func takeSources() -> [String]? {
        guard let count = takeCount() else { return nil }
        var sources: [String] = []
        for _ in 0..<count {
            guard let source = takeText() else { return nil }
            sources.append(source)
        }
        return sources
    }

    private mutating func takeRepresentation() -> Representation? {
        guard let selection = takeSelection(), let base = take(Int64.self), let total = take(Int64.self),
            -1...ByteRange.longestFile ~= base, -1...ByteRange.longestFile ~= total,
            let coding = takeOptionalText(), let mediaType = takeOptionalText(), let count = takeCount(),
            count <= UInt64(Representation.maximumRecords)
        else { return nil }
        var records: [ValidatorRecord] = []
        for _ in 0..<count {
            guard let source = takeText(), let host = takeText(),
                let stability = take(UInt8.self).flatMap(ValidatorRecord.TagStability.init),
                let validators = takeValidators()
            else { return nil }
            records.append(ValidatorRecord(source: source, host: host, validators: validators, stability: stability))
        }
        return Representation(
            selection: selection.value, base: base < 0 ? nil : base, coding: coding.value,
            total: total < 0 ? nil : total, mediaType: mediaType.value, records: records)
    }

    /// Reads what `putTail` has written; `false` when it is malformed.
    mutating func takeTail(into representation: inout Representation) -> Bool {
        guard let total = take(Int64.self) else { return false }
        if total != JournalLayout.noSuspect {
            guard -1...ByteRange.longestFile ~= total, let mediaType = takeOptionalText() else { return false }
            representation.suspect = SuspectPage(total: total < 0 ? nil : total, mediaType: mediaType.value)
            if isAtEnd { return true }
        }
        guard let damage = takeOptionalText(), let count = takeCount(), count <= UInt64(LearntDigest.most) else {
            return false
        }
        representation.damage = damage.value
        for _ in 0..<count {
            guard let address = takeText(), let field = takeText(), let text = takeText(),
                let checksum = Checksum(text: text)
            else { return false }
            representation.digests.append(LearntDigest(address: address, field: field, checksum: checksum))
        }
        if isAtEnd { return representation.damage != nil || !representation.digests.isEmpty }
        guard let joints = takeCount(), joints > 0 else { return false }
        for _ in 0..<joints {
            guard let joint = take(Int64.self), 1..<ByteRange.longestFile ~= joint else { return false }
            representation.openJoints.append(joint)
        }
        return true
    }

    private mutating func takeValidators() -> Validators? {
        guard let kind = take(UInt8.self), kind <= 2 else { return nil }
        var tag: EntityTag?
        if kind > 0 {
            guard let opaque = takeText() else { return nil }
            tag = EntityTag(opaque: opaque, isWeak: kind == 2)
        }
        guard let dated = take(UInt8.self) else { return nil }
        guard dated > 0 else { return Validators(entityTag: tag) }
        guard let strength = Validators.DateStrength(rawValue: dated - 1), let seconds = take(Int64.self) else {
            return nil
        }
        return Validators(entityTag: tag, lastModified: UnixTime(seconds: seconds), strength: strength)
    }

    /// A value that was read, possibly `nil`.
    private struct Optionally<Value> { var value: Value? }

    private mutating func takeSelection() -> Optionally<RequestedRange>? {
        guard let kind = take(UInt8.self), let first = take(Int64.self), let second = take(Int64.self),
            0...ByteRange.longestFile ~= first, 0...ByteRange.longestFile ~= second
        else { return nil }
        switch kind {
        case 0: return Optionally(value: nil)
        case 1: return Optionally(value: .whole)
        case 2: return Optionally(value: .from(first))
        case 3: return ByteRange(named: first, second).map { Optionally(value: .closed($0)) }
        case 4: return Optionally(value: .suffix(first))
        case _: return nil
        }
    }

    private mutating func takeOptionalText() -> Optionally<String>? {
        guard let count = takeCount() else { return nil }
        guard count > 0 else { return Optionally(value: nil) }
        return takeText(count - 1).map { Optionally(value: $0) }
    }
}

extension JournalFacts {
    /// The facts as bytes, for a caller that stores them elsewhere than in a journal.
    package var encoded: [UInt8] {
        var writer = JournalWriter()
        writer.put(self)
        writer.putTail(of: representation)
        return writer.bytes
    }

    /// `nil` unless the bytes are exactly those of ``encoded``.
    package init?(encoded bytes: [UInt8]) {
        var reader = JournalReader(bytes[...])
        guard var facts = reader.takeFacts(), reader.isAtEnd || reader.takeTail(into: &facts.representation),
            facts.encoded == bytes
        else { return nil }
        self = facts
    }
}
