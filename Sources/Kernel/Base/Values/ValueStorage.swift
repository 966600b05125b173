// Public so that other modules inline it; no part of the library's interface.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A value that is kept by reference until one of its copies is changed: a copy costs one retain.
///
/// For structs of many fields that are passed on more often than changed. The struct that has it gives each field a
/// property of its own: members looked up by key path cost thousands of instructions a file. Inlined into other modules:
/// there, unspecialized, each access to a field would cost 500 instructions.
public struct CopyOnWrite<Value: Hashable & Sendable>: Hashable, Sendable {
    @usableFromInline final class Storage: @unchecked Sendable {  // changed only while it has one reference
        @usableFromInline var value: Value
        @inlinable init(_ value: consuming Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable public init(_ value: consuming Value) { storage = Storage(value) }

    @inlinable public var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    @inlinable public static func == (left: CopyOnWrite, right: CopyOnWrite) -> Bool {
        left.storage === right.storage || left.storage.value == right.storage.value
    }

    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}

/// A large value that is handed on by reference: a copy counts one reference.
public final class Boxed<Value: Sendable>: Sendable {
    public let value: Value

    @inlinable public init(_ value: consuming Value) { self.value = value }
}

extension Boxed: Equatable where Value: Equatable {
    @inlinable public static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }
}

extension Boxed: Hashable where Value: Hashable {
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// A field without content whose owner is passed by address.
///
/// The compiler loads other structs as a whole for a call that reads one of their fields: a machine of one and a half
/// kilobytes was copied a dozen times for each small file.
package struct KeptInPlace: Hashable, Sendable {
    /// Of a type whose layout is known only at run time.
    private let mark: any Sendable = ()

    package init() {}

    package static func == (left: KeptInPlace, right: KeptInPlace) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
