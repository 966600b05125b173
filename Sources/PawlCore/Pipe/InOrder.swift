/// Returns numbered values in the order 0, 1, 2…, although they arrive in any order.
package struct InOrder<Value: Sendable>: Sendable {
    /// The number of the value to be returned next.
    package private(set) var next = 0
    private var waiting: [Int: Value] = [:]

    package init() {}

    /// The number of values that wait for earlier ones.
    package var count: Int { waiting.count }

    /// Adds a value; returns the values that are next in order.
    package mutating func put(_ value: Value, at number: Int) -> [Value] {
        precondition(number >= next && waiting[number] == nil, "a number is given out once")
        waiting[number] = value
        var due: [Value] = []
        while let value = waiting.removeValue(forKey: next) {
            due.append(value)
            next += 1
        }
        return due
    }
}

/// The most recent results by address, so that a repeated address is not requested again.
package struct RecentResults<Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [PipeJob.Request: Value] = [:]
    /// The keys in order of arrival, as a ring buffer.
    private var keys: [PipeJob.Request] = []
    private var oldest = 0

    package init(capacity: Int) { self.capacity = capacity }

    package subscript(_ key: PipeJob.Request) -> Value? { values[key] }

    package mutating func note(_ value: Value, for key: PipeJob.Request) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        if keys.count < capacity {
            keys.append(key)
        } else {
            values[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % capacity
        }
    }
}
