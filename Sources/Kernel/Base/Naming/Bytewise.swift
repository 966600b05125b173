// Public so that other modules inline it; no part of the library's interface.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Text that is compared by its bytes, as names on disk, keys of objects and URLs are.
///
/// Swift's own equality of strings is canonical equivalence: `é` as one scalar equals `é` as two, and K equals the
/// Kelvin sign. For a file system, a server and a database those are different names.
public protocol BytewiseComparable: Sendable {
    func hasSameBytes(as other: Self) -> Bool
    func hashBytes(into hasher: inout Hasher)
}

/// A text as the key of a table, or as a property of a value that is compared: equal only to the same bytes.
@propertyWrapper public struct Bytewise<Text: BytewiseComparable>: Hashable, Sendable {
    public var wrappedValue: Text

    @inlinable public init(wrappedValue: Text) { self.wrappedValue = wrappedValue }
    @inlinable public init(_ text: Text) { wrappedValue = text }

    @inlinable public static func == (left: Bytewise, right: Bytewise) -> Bool {
        left.wrappedValue.hasSameBytes(as: right.wrappedValue)
    }

    @inlinable public func hash(into hasher: inout Hasher) { wrappedValue.hashBytes(into: &hasher) }
}

extension Bytewise: Comparable where Text == String {
    @inlinable public static func < (left: Bytewise, right: Bytewise) -> Bool {
        left.wrappedValue.utf8.lexicographicallyPrecedes(right.wrappedValue.utf8)
    }
}

extension String: BytewiseComparable {
    public func hasSameBytes(as other: String) -> Bool {
        let found = unsafe utf8.withContiguousStorageIfAvailable { mine in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                unsafe Self.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(others))
            }
        }
        return (found ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    public func hashBytes(into hasher: inout Hasher) {
        let isHashed: Void? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if isHashed == nil { for byte in utf8 { hasher.combine(byte) } }
        // No byte of UTF-8: the end of a text, so that a list of texts has the hash of no other.
        hasher.combine(0xFF as UInt8)
    }

    /// In words of eight bytes: a name is looked up several times for each small file.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while index + 8 <= left.count {
            let word = unsafe left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard unsafe word == right.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index += 8
        }
        while index < left.count {
            guard unsafe left[index] == right[index] else { return false }
            index += 1
        }
        return true
    }
}

extension Optional: BytewiseComparable where Wrapped: BytewiseComparable {
    @inlinable public func hasSameBytes(as other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case _: false
        }
    }

    @inlinable public func hashBytes(into hasher: inout Hasher) {
        hasher.combine(self != nil)
        self?.hashBytes(into: &hasher)
    }
}

extension Array: BytewiseComparable where Element: BytewiseComparable {
    @inlinable public func hasSameBytes(as other: [Element]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    @inlinable public func hashBytes(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { element.hashBytes(into: &hasher) }
    }
}

extension Sequence<String> {
    /// Whether one of them has these bytes.
    @inlinable public func containsBytes(of text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension StringProtocol {
    /// Whether it begins with these bytes: a combining mark behind them belongs to the rest.
    @inlinable public func beginsWithBytes(of text: some StringProtocol) -> Bool { utf8.starts(with: text.utf8) }

    /// Whether it ends with these bytes.
    @inlinable public func endsWithBytes(of text: some StringProtocol) -> Bool {
        guard let start = utf8.index(utf8.endIndex, offsetBy: -text.utf8.count, limitedBy: utf8.startIndex) else {
            return false
        }
        return utf8[start...].elementsEqual(text.utf8)
    }

    /// What follows these bytes; `nil` if it does not begin with them.
    @inlinable public func afterBytes(of text: some StringProtocol) -> String? {
        beginsWithBytes(of: text) ? String(decoding: utf8.dropFirst(text.utf8.count), as: UTF8.self) : nil
    }
}
