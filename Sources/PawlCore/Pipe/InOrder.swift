/// Gives values out by their numbers, 0, 1, 2…, in whatever order they come.
package struct InOrder<Value: Sendable>: Sendable {
    /// The number that is given out next.
    package private(set) var next = 0
    private var waiting: [Int: Value] = [:]

    package init() {}

    /// How many wait for others before them.
    package var count: Int { waiting.count }

    /// The values whose turn it is now.
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

/// The last results, so that an address that comes again is not requested again.
package struct RecentResults<Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [PipeJob.Request: Value] = [:]
    /// The keys in the order in which they came, a ring.
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
