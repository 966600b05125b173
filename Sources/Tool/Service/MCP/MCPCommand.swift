import Glibc
import PawlBase
import PawlSystem
package import PawlTerminal

extension Command {
    package static let mcp = Command(
        "mcp", "[options]", summary: "serve tools for language models over standard input (MCP)",
        details: """
            Accept the Model Context Protocol on standard input, for programs that give tools to language models: list_downloads, \
            wait_for_download and verify_download; with --allow-add also add_download, which uses no keys, logins and cookies of \
            the user, and reaches no address of this machine or of a private network. The command ends with its input.
            """,
        taking: [VerbOptions.allowAdd, VerbOptions.allowPrivate] + VerbOptions.common.filter { $0.entry.long != "json" }
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "mcp") }
        var session = MCPSession(
            try options.client(), MCPServer(allowsAdding: options.allowsAdding),
            allowsPrivate: options.allowsPrivateAddresses)
        return try session.run()
    }
}

/// One run of `pawl mcp`: lines from standard input, replies on standard output.
private struct MCPSession: ~Copyable {
    private let client: ServiceClient
    private let server: MCPServer
    private let allowsPrivate: Bool
    private var output = OutputFile(descriptor: STDOUT_FILENO)
    private static let longestLine = 1 << 20

    init(_ client: ServiceClient, _ server: MCPServer, allowsPrivate: Bool) {
        self.allowsPrivate = allowsPrivate
        self.client = client
        self.server = server
    }

    mutating func run() throws(Failure) -> Int32 {
        var pending: [UInt8] = []
        // Behind the beginning of a line that is too long.
        var isSkipping = false
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending[..<end]
                if !isSkipping, line.contains(where: { $0 > 0x20 }) { carryOut(server.hear(line)) }
                pending.removeFirst(end + 1)
                isSkipping = false
            }
            if pending.count > Self.longestLine {
                if !isSkipping { carryOut(.reply(MCPServer.tooLong(Self.longestLine))) }
                (pending, isSkipping) = ([], true)
            }
            do throws(SystemError) {
                let count = try BoundedRead.some(STDIN_FILENO, into: &piece)
                guard count > 0 else { return 0 }
                pending += piece[..<count]
            } catch { throw Failure(.inputOutput, "cannot read", at: "standard input", because: error.text) }
        }
    }

    private mutating func carryOut(_ step: MCPServer.Step) {
        switch step {
        case .none: return
        case .reply(let reply): output.appendLine(reply.text)
        case .run(let tool, let arguments, let id):
            let result = Result { () throws(Failure) in
                MCPServer.worded(try run(tool, arguments), allowsPrivate: allowsPrivate)
            }
            output.appendLine(MCPServer.result(result, of: id).text)
        }
        output.flush()
    }

    private func run(_ tool: MCPTool, _ given: JSON) throws(Failure) -> JSON {
        switch tool {
        case .list:
            var filter = [JSON.Member("limit", given["limit"] ?? .number(100))]
            if let state = given["state"] { filter.append(JSON.Member("states", .array([state]))) }
            if let text = given["find"] { filter.append(JSON.Member("text", text)) }
            return ["downloads": try client.call("pawl.list", [.object(filter)], to: "list")]
        case .wait: return try wait(for: try id(given), seconds: given["seconds"]?.integer ?? 60)
        case .verify: return try client.call("pawl.verify", [.string(try id(given))], to: "verify", nil, .unlimited)
        case .add:
            guard given["url"]?.string?.isEmpty == false else {
                throw Failure(.badOption, "missing", at: "url", because: "the tool needs the URL of a file")
            }
            var item = [
                JSON.Member("url", given["url"] ?? .null), JSON.Member("folder", given["folder"] ?? .null),
                JSON.Member("ownersSecrets", .bool(false)),
            ]
            if !allowsPrivate { item.append(JSON.Member("privateAddresses", .bool(false))) }
            if let checksum = given["checksum"] { item.append(JSON.Member("options", ["checksum": checksum])) }
            let added = try client.call("pawl.add", [.array([.object(item)])], to: "add").array?.first ?? .null
            if let error = added["error"] {
                throw MCPServer.worded(Failure(event: error), allowsPrivate: allowsPrivate)
            }
            return added
        }
    }

    private func id(_ given: JSON) throws(Failure) -> String {
        guard let id = given["id"]?.string, !id.isEmpty else {
            throw Failure(.badOption, "missing", at: "id", because: "the tool needs the id of a download")
        }
        return try client.id(id, to: "find")
    }

    private func wait(for id: String, seconds: Int64) throws(Failure) -> JSON {
        let deadline = SystemClock().now + .seconds(Double(min(max(0, seconds), 600)))
        // Before the first look, so that no end in between is missed.
        var stream = try client.events()
        while true {
            let details = try client.call("pawl.show", [.string(id)], to: "wait for", id)
            guard RemoteDownload(details)?.hasEnded == false else { return details }
            while true {
                let left = (deadline - SystemClock().now).nanoseconds / 1_000_000
                guard left > 0 else { return details }
                var descriptor = pollfd(fd: stream.descriptor, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&descriptor, 1, Int32(clamping: left)) > 0 else { continue }
                guard let events = try stream.arrived() else { return details }
                if events.contains(where: { Self.mayEnd(id, $0) }) { break }
            }
        }
    }

    private static func mayEnd(_ id: String, _ event: JSON) -> Bool {
        let ends = ["finished", "failed", "missed", "collection"].contains(event["event"]?.string ?? "")
        let isOwn = event["id"]?.string == id || event["event"]?.string == "missed"
        return isOwn && (ends || event["state"]?.string == "removed")
    }
}
