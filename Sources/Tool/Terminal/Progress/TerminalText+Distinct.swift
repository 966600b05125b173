extension TerminalText {
    /// The names in at most so many columns; of those that would look the same, the common beginning is left out.
    ///
    /// `prefix`: how many characters at the beginning of each are not part of the name.
    package static func distinct(
        _ names: [String], to columns: Int, ellipsis: String, prefix: Int = 0
    ) -> [String] {
        func shortened(_ name: String) -> String { TerminalText.shortened(name, to: columns, ellipsis: ellipsis) }
        var texts = names.map(shortened)
        for alike in Dictionary(grouping: names.indices, by: { texts[$0].dropFirst(prefix) }).values
        where alike.count > 1 {
            let bodies = alike.map { names[$0].dropFirst(prefix) }
            guard Set(bodies).count > 1 else { continue }
            let common = bodies.dropFirst().reduce(bodies[0].count) { most, body in
                min(most, zip(bodies[0], body).prefix { $0 == $1 }.count)
            }
            // A little of what they share shows where the difference is.
            let left = common - sharedCharacters
            guard left > ellipsis.count else { continue }
            for (index, body) in zip(alike, bodies) {
                texts[index] = shortened(names[index].prefix(prefix) + ellipsis + body.dropFirst(left))
            }
        }
        return texts
    }

    private static let sharedCharacters = 3
}
