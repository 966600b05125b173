import Glibc

enum Pipe {
    /// The read end, then the write end.
    static func make() throws(SetupFailure) -> [Int32] {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw SetupFailure("pipe") }
        return ends
    }
}
