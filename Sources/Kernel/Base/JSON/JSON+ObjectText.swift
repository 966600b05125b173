extension JSON {
    /// The text of an object that is written member by member, without a value for each.
    package struct ObjectText: Hashable, Sendable {
        private var bytes: [UInt8] = []

        package init() {
            bytes.reserveCapacity(512)
            bytes.append(UInt8(ascii: "{"))
        }

        package mutating func add(_ name: String, _ value: JSON) {
            begin(name)
            value.write(to: &bytes)
        }

        /// `nil` becomes `null`.
        package mutating func add(_ name: String, _ text: String?) {
            guard let text else { return add(name, .null) }
            begin(name)
            JSON.write(text, to: &bytes)
        }

        package mutating func add(_ name: String, _ number: Int?) {
            guard let number else { return add(name, .null) }
            begin(name)
            bytes += String(number).utf8
        }

        /// The text, as UTF-8.
        package consuming func end() -> [UInt8] {
            bytes.append(UInt8(ascii: "}"))
            return bytes
        }

        private mutating func begin(_ name: String) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSON.write(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
    }
}
