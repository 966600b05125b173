extension JSON {
    /// The text of an object that is written member by member, without a value for each.
    struct ObjectText: Hashable, Sendable {
        private var bytes: [UInt8] = []

        init() {
            bytes.reserveCapacity(512)
            bytes.append(UInt8(ascii: "{"))
        }

        mutating func add(_ name: String, _ value: JSON) {
            begin(name)
            value.write(to: &bytes)
        }

        /// `nil` becomes `null`.
        mutating func add(_ name: String, _ text: String?) {
            guard let text else { return add(name, .null) }
            begin(name)
            JSON.write(text, to: &bytes)
        }

        mutating func add(_ name: String, _ number: Int?) {
            guard let number else { return add(name, .null) }
            begin(name)
            bytes += String(number).utf8
        }

        /// The text, as UTF-8.
        consuming func end() -> [UInt8] {
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
