import PawlTestKit

/// An origin, a folder, and a way to run an example with them.
final class ExampleBench: Sendable {
    let origin: OriginServer
    let folder: TemporaryFolder

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit { origin.stop() }

    func start(
        _ example: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> PawlProcess {
        try PawlProcess(PawlBinary.beside("Example\(example)"), arguments, environment: environment)
    }

    func run(_ example: String, _ arguments: String...) throws -> PawlProcess {
        let process = try start(example, arguments)
        process.wait()
        return process
    }

    /// The files, without the queue's own.
    var files: [String] { folder.names.filter { !$0.hasPrefix(".") } }
}
