/// The identity of one connection's work inside one download; counts up and is never reused.
package struct LaneID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package var description: String { "lane \(rawValue)" }
}
