/// The results of the torture test, in numbers.
struct TortureReport: CustomStringConvertible {
    var files = 0
    var content: Int64 = 0
    var kinds: [String: Int] = [:]
    var connections: [Int: Int] = [:]
    /// Kills by the state that they hit.
    var phases: [String: Int] = [:]
    var incidents: [String: Int] = [:]
    /// Bytes that the fault origin sent.
    var sent: Int64 = 0
    /// Bytes that it sent more than once, including those lost in sockets' buffers.
    var sentTwice: Int64 = 0
    /// Bytes requested on one connection although the journal had them.
    var fetchedAgain: Int64 = 0
    /// Bytes before the resume offset, requested for comparison.
    var compared: Int64 = 0
    /// Bytes in the file, of one connection, that the killed run's journal does not prove: of writes cut by the kill.
    var unknown: Int64 = 0
    /// The same for small files of a single response, which have no journal.
    var unjournalled: Int64 = 0
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
            \(list(incidents))
              the fault origin sent \(sent) bytes, \(sentTwice) of them more than once (sockets' buffers included)
              fetched again on one connection although the journal had them: \(fetchedAgain), and to be compared: \(compared)
              in the file at a kill of one connection, of writes that it cut: \(unknown), and of files without a journal: \(unjournalled)
            \(problems.map { "  WRONG: " + $0 }.joined(separator: "\n"))
            """
    }
}
