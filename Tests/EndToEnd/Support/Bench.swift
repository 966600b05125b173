import Glibc
import PawlJournal
import PawlTestKit
import Testing

/// One test's origin and folder, and a way to run `pawl get` with them.
final class Bench: Sendable {
    let origin: OriginServer
    let folder: TemporaryFolder
    private let home: TemporaryFolder

    init(in parent: String = "/tmp") throws {
        origin = try OriginServer()
        folder = try TemporaryFolder(in: parent)
        home = try TemporaryFolder()
    }

    deinit { origin.stop() }

    /// Short timeouts and retry delays; later options override these.
    static let defaults = ["--json", "--timeout", "5", "--retry-delay", "0.01", "--retries", "3"]

    /// Starts `pawl get` in the folder.
    func start(_ arguments: String..., in folder: String? = nil) throws -> PawlProcess {
        try start(arguments, in: folder)
    }

    func start(
        _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]
    ) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path, ["get"] + Self.defaults + arguments,
            environment: ["HOME": home.path].merging(environment) { $1 }, folder: folder ?? self.folder.path)
    }

    /// Runs `pawl get` to its end.
    func get(_ arguments: String..., in folder: String? = nil) throws -> Outcome {
        Outcome(of: try start(arguments, in: folder))
    }

    func get(_ arguments: [String], in folder: String? = nil, environment: [String: String] = [:]) throws -> Outcome {
        Outcome(of: try start(arguments, in: folder, environment: environment))
    }

    /// Runs another command of the same user; its exit code and its output.
    func run(_ command: String...) throws -> (code: Int32?, text: String) { try run(command) }

    func run(_ command: [String]) throws -> (code: Int32?, text: String) {
        let process = try PawlProcess(PawlBinary.path, command, environment: ["HOME": home.path], folder: folder.path)
        return (Outcome(of: process).code, process.lines.joined(separator: "\n") + process.errors)
    }

    /// Leaves a part file of `path` with exactly `count` bytes, as a killed run leaves it.
    func leavePartial(of path: String, query: String = "", bytes count: Int64) throws {
        origin.adjust(path) { $0.cut = .stall(at: count) }
        let process = try start(origin.url(path) + query, "-x", "1")
        let isThere = process.progress(reaches: count)
        process.send(SIGKILL)
        process.wait()
        origin.adjust(path) { $0.cut = nil }
        origin.waitUntilQuiet(path)
        try #require(isThere, "\(count) bytes were not written: \(Outcome(of: process))")
    }
}

extension Bench {
    /// The content of the journal of the unfinished file `name`.
    func journal(_ name: String) -> JournalImage? {
        FileSystem.contents(folder.path(name + ".pawl")).flatMap { try? JournalImage($0) }
    }
}

/// The exit and the output of a run of `pawl get`.
struct Outcome: CustomStringConvertible {
    /// The exit code, negative for a signal; `nil` if it had to be killed for taking too long.
    let code: Int32?
    let events: [Event]
    let errors: String

    init(of process: PawlProcess) {
        switch process.wait(atMost: .patience) {
        case .code(let code): self.code = code
        case .signal(let signal): code = -signal
        case nil: code = nil
        }
        events = process.lines.map(Event.init)
        errors = process.errors
    }

    func events(_ word: String) -> [Event] { events.filter { $0.word == word } }

    /// The message of the last failure.
    var message: String { events("failed").last?.text("message") ?? "" }

    /// All details about a failed expectation.
    var description: String {
        let output = events.map(\.line).filter { !$0.contains("\"progress\"") }.joined(separator: "\n")
        return "exit \(code.map(String.init) ?? "too late")\n\(errors)\n\(output)"
    }
}

/// One line of `--json`.
struct Event {
    let line: String

    var word: String? { text("event") }

    /// A text field, with escapes unchanged.
    func text(_ field: String) -> String? {
        guard let rest = rest(after: "\"\(field)\":\"") else { return nil }
        var isEscaped = false
        return String(
            rest.prefix { character in
                defer { isEscaped = character == "\\" && !isEscaped }
                return isEscaped || character != "\""
            })
    }

    /// A whole number.
    func number(_ field: String) -> Int64? {
        rest(after: "\"\(field)\":").flatMap { Int64($0.prefix { $0.isNumber || $0 == "-" }) }
    }

    private func rest(after key: String) -> Substring? {
        var rest = line[...]
        while !rest.isEmpty {
            if rest.hasPrefix(key) { return rest.dropFirst(key.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}

extension PawlProcess {
    /// Waits until progress reports exactly that many written bytes.
    func progress(reaches count: Int64) -> Bool {
        line { line in
            let event = Event(line: line)
            return event.word == "progress" && event.number("written") == count
        } != nil
    }

    /// Waits for an event.
    @discardableResult func event(_ word: String) -> Event? { line { Event(line: $0).word == word }.map(Event.init) }
}
