#if Queue
import Pawl

/// The session's data of a task, stored in the free text of the queue's record.
struct TaskNote: Hashable {
    package var number: Int
    /// The task's own folder inside the session's, so that tasks of the same URL do not conflict.
    var folder: String
    var request: SessionRequest
    var description: String?
    /// Seconds since 1970 before which it does not start.
    var begin: Double?
    /// Seconds since 1970 of its first resume.
    var firstResume: Double?
    /// The partial file of the resume data that it was made from.
    var partial: String?
    /// Which tracks of a stream are wanted; `nil` for a file.
    var stream: StreamOptions?
    /// Begins with a colon, as no header field does.
    private static let timeout = ":timeout"
    private static let begin = ":begin"
    private static let firstResume = ":resumed"
    private static let partial = ":partial"
    private static let stream = ":stream"

    init(number: Int, folder: String, request: SessionRequest, description: String?) {
        self.number = number
        self.folder = folder
        self.request = request
        self.description = description
    }

    /// One value per line; the description follows the empty line.
    init?(_ text: String) {
        guard let end = text.firstRange(of: "\n\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, let number = Int(lines[0]), 0...Int(Int32.max) ~= number else { return nil }
        self.number = number
        folder = String(lines[1])
        request = SessionRequest(url: String(lines[2]))
        for line in lines.dropFirst(3) {
            guard let colon = line.firstRange(of: ": ") else { return nil }
            let (name, value) = (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
            switch name {
            case Self.timeout: request.timeoutInterval = Double(value)
            case Self.begin: begin = Double(value)
            case Self.firstResume: firstResume = Double(value)
            case Self.partial: partial = value
            case Self.stream: stream = StreamOptions(stored: value)
            default: request.allHTTPHeaderFields[name] = value
            }
        }
        let rest = text[end.upperBound...]
        description = rest.isEmpty ? nil : String(rest.dropFirst())
    }

    /// A header with a line end is not preserved: the queue refuses it.
    var text: String {
        var lines = request.allHTTPHeaderFields.sorted { $0.key < $1.key }.map { "\n\($0.key): \($0.value)" }
        if let seconds = request.timeoutInterval { lines.append("\n\(Self.timeout): \(seconds)") }
        if let begin { lines.append("\n\(Self.begin): \(begin)") }
        if let firstResume { lines.append("\n\(Self.firstResume): \(firstResume)") }
        if let partial { lines.append("\n\(Self.partial): \(partial)") }
        if let stream { lines.append("\n\(Self.stream): \(stream.stored)") }
        return "\(number)\n\(folder)\n\(request.url)\(lines.joined())\n\n\(description.map { ".\($0)" } ?? "")"
    }
}
#endif
