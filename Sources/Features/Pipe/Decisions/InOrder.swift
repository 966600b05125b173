import PawlBase

/// Returns numbered values in the order 0, 1, 2…, although they arrive in any order.
package struct InOrder<Value: Sendable>: Sendable {
    /// The number of the value to be returned next.
    package private(set) var next = 0
    /// By reference, because a dictionary has up to twice as many places as values.
    private var waiting: [Int: Boxed<Value>] = [:]

    package init() {}

    /// The number of values that wait for earlier ones.
    package var count: Int { waiting.count }

    /// Adds a value; returns the values that are next in order.
    package mutating func put(_ value: Value, at number: Int) -> [Value] {
        precondition(number >= next && waiting[number] == nil, "a number is given out once")
        guard number == next else {
            waiting[number] = Boxed(value)
            return []
        }
        var due = [value]
        next += 1
        while let boxed = waiting.removeValue(forKey: next) {
            due.append(boxed.value)
            next += 1
        }
        return due
    }
}

/// The most recent results by address, so that a repeated address is not requested again.
package struct RecentResults<Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [PipeJob.Request: Boxed<Value>] = [:]
    /// The keys in order of arrival, as a ring buffer.
    private var keys: [PipeJob.Request] = []
    private var oldest = 0

    package init(capacity: Int) { self.capacity = capacity }

    package subscript(_ key: PipeJob.Request) -> Value? { values[key]?.value }

    package mutating func note(_ value: Value, for key: PipeJob.Request) {
        guard values.updateValue(Boxed(value), forKey: key) == nil else { return }
        if keys.count < capacity {
            keys.append(key)
        } else {
            values[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % capacity
        }
    }
}
