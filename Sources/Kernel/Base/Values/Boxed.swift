/// A large value that is handed on by reference: a copy counts one reference.
package final class Boxed<Value: Sendable>: Sendable {
    package let value: Value

    @inlinable package init(_ value: consuming Value) { self.value = value }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
