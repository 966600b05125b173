/// A value that is kept by reference until one of its copies is changed: a copy costs one retain.
///
/// For structs of many fields that are passed on more often than changed. The struct that has it gives each field a
/// property of its own: members looked up by key path cost thousands of instructions a file. Inlined into other modules:
/// there, unspecialized, each access to a field would cost 500 instructions.
package struct CopyOnWrite<Value: Hashable & Sendable>: Hashable, Sendable {
    @usableFromInline final class Storage: @unchecked Sendable {  // changed only while it has one reference
        @usableFromInline var value: Value
        @inlinable init(_ value: consuming Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable package init(_ value: consuming Value) { storage = Storage(value) }

    @inlinable package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    @inlinable package static func == (left: CopyOnWrite, right: CopyOnWrite) -> Bool {
        left.storage === right.storage || left.storage.value == right.storage.value
    }

    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
