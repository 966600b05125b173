/// The part of a file that the user requests.
package enum RangeOption {
    /// Parses `0-99` (both ends included), `100-` (from there on) and `-100` (the last hundred).
    ///
    /// Throws code 28.
    package static func parse(_ text: String) throws(Failure) -> RequestedRange {
        let parts = Array(text.utf8).pieces(between: .dash).map { $0.trimmed(\.isBlank) }
        let numbers = parts.map(\.decimalNumber)
        guard parts.count == 2, !(parts[0].isEmpty && parts[1].isEmpty),
            (0...1).allSatisfy({ parts[$0].isEmpty || numbers[$0] != nil })
        else { throw failure(text, "it is not of the form A-B, A- or -N") }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?):
            guard first <= last else { throw failure(text, "it ends before it begins") }
            guard last < ByteRange.longestFile, let range = ByteRange(named: first, last + 1) else {
                throw tooLarge(text)
            }
            return .closed(range)
        case (let first?, nil):
            guard first <= ByteRange.longestFile else { throw tooLarge(text) }
            return .from(first)
        case (nil, let count):
            guard let count, count > 0 else { throw failure(text, "it is empty") }
            guard count <= ByteRange.longestFile else { throw tooLarge(text) }
            return .suffix(count)
        }
    }

    private static func tooLarge(_ text: String) -> Failure {
        failure(text, "the longest supported file has \(ByteRange.longestFile) bytes")
    }

    private static func failure(_ text: String, _ why: String) -> Failure {
        let shown = Redaction.clipped(Redaction.printable(text), to: 80)
        return Failure(
            .badOption, "cannot use the range", at: "\"\(shown)\"", because: why,
            remedy: "write 0-99 for the first hundred bytes, 100- for all after them, -100 for the last hundred")
    }
}
