import Glibc
import PawlBase
package import PawlSystem

/// How a running service is found when its socket is gone: a small file in its root, and another in the user's state folder.
package struct ServiceNote: Hashable, Sendable {
    package var process: ProcessIdentity
    package var root: String
    /// The socket that it was started with.
    package var socket: String
    /// Whether that is the one that commands use without `--socket`.
    package var isUsual: Bool
    /// The sockets at which it can be reached.
    package var sockets: [String]

    package init(process: ProcessIdentity, root: String, socket: String, isUsual: Bool, sockets: [String]) {
        self.process = process
        self.root = root
        self.socket = socket
        self.isUsual = isUsual
        self.sockets = sockets
    }

    private static let longest = 64 * 1024

    /// The note in a download root.
    package static func path(below root: String) -> String { "\(root)/.pawl/service" }

    /// The note of a process in the user's state folder.
    static func path(of process: pid_t, in state: String) -> String { "\(state)/services/\(process)" }

    /// The running service that has this download root; `nil` if none is known.
    package static func running(in root: String) -> ServiceNote? { read(path(below: root)) }

    /// The running services that the state folder knows.
    package static func running(knownIn state: String) -> [ServiceNote] {
        let folder = "\(state)/services"
        return FolderNames.read(folder).sorted().compactMap { name in
            pid_t(name).flatMap { read(path(of: $0, in: state)) }
        }
    }

    private static func read(_ path: String) -> ServiceNote? {
        guard let bytes = (try? AtomicFile.read(path, atMost: longest)) ?? nil, isOwn(path) else { return nil }
        guard let note = (try? JSON.parse(bytes)).flatMap(ServiceNote.init), note.process.isRunning else { return nil }
        return note
    }

    /// Another user's note could name a socket of its own, or a process to end.
    private static func isOwn(_ path: String) -> Bool {
        var found = stat()
        return unsafe lstat(path, &found) == 0 && found.st_uid == geteuid() && found.st_mode & 0o022 == 0
    }

    /// Removes notes of services that were killed.
    static func sweep(_ state: String) {
        for name in FolderNames.read("\(state)/services") {
            guard let process = pid_t(name), read(path(of: process, in: state)) == nil else { continue }
            _ = unsafe unlink(path(of: process, in: state))
        }
    }
}

extension ServiceNote {
    var json: JSON {
        [
            "pid": .number(process.number), "start": .string(String(process.start)), "root": .string(root),
            "socket": .string(socket), "usual": .bool(isUsual), "sockets": .array(sockets.map { .string($0) }),
        ]
    }

    init?(_ json: JSON) {
        guard let number = json["pid"]?.integer.flatMap({ pid_t(exactly: $0) }),
            let start = json["start"]?.string.flatMap({ UInt64($0) }), let root = json["root"]?.string,
            let socket = json["socket"]?.string
        else { return nil }
        self.init(
            process: ProcessIdentity(number: number, start: start), root: root, socket: socket,
            isUsual: json["usual"]?.bool == true, sockets: (json["sockets"]?.array ?? []).compactMap(\.string))
    }
}
