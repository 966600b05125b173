/// What happened under torture, in numbers.
struct TortureReport: CustomStringConvertible {
    var files = 0
    var content: Int64 = 0
    var kinds: [String: Int] = [:]
    var connections: [Int: Int] = [:]
    /// Kills by what they hit.
    var phases: [String: Int] = [:]
    var deeds: [String: Int] = [:]
    /// Bytes that the fault origin sent.
    var sent: Int64 = 0
    /// Bytes that it sent more than once, what was lost in sockets' buffers with it.
    var sentTwice: Int64 = 0
    /// Bytes asked for on one connection although the journal had them.
    var fetchedAgain: Int64 = 0
    /// Bytes before the place to go on from, asked for to be compared.
    var compared: Int64 = 0
    /// Bytes in the file, of one connection, that a killed run's journal did not know of yet; and the most at once.
    var unrecorded: Int64 = 0
    var mostUnrecorded: Int64 = 0
    var problems: [String] = []

    var kills: Int { phases.values.reduce(0, +) }

    var description: String {
        func list<Key: Comparable>(_ counts: [Key: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value)" }.joined(separator: "\n")
        }
        return """
            torture: \(files) files of \(content) bytes, every one right: \(problems.isEmpty)
              from
            \(list(kinds))
              with so many connections
            \(list(connections))
              \(kills) kills
            \(list(phases))
              besides
            \(list(deeds))
              the fault origin sent \(sent) bytes, \(sentTwice) of them more than once (sockets' buffers included)
              fetched again on one connection although the journal had them: \(fetchedAgain), and to be compared: \(compared)
              in the file and not yet in the journal at a kill of one connection: \(unrecorded), at most \(mostUnrecorded)
            \(problems.map { "  WRONG: " + $0 }.joined(separator: "\n"))
            """
    }
}
