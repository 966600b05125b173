import PawlBase

/// Options of a command that contradict each other.
struct OptionConflict: Sendable {
    private let first: String
    private let second: String
    private let why: String

    /// Throws for the first two of the given options that exclude each other.
    static func check(_ given: Set<String>, of command: String) throws(Failure) {
        guard let found = table[command]?.first(where: { given.contains($0.first) && given.contains($0.second) }) else {
            return
        }
        throw Failure(
            .badOption, "cannot use", at: "--\(found.first) with --\(found.second)", because: found.why,
            remedy: "give one of them")
    }

    private init(_ first: String, _ second: String, _ why: String) {
        (self.first, self.second, self.why) = (first, second, why)
    }

    private static let someOrAll = [
        OptionConflict("all", "group", "one names all downloads, the other only those of a group")
    ]

    private static let unsigned = OptionConflict(
        "no-sign-request", "profile", "requests are not signed, so no credentials are used")

    private static let download = [
        OptionConflict("netrc", "no-netrc", "one reads a netrc file, the other none"), unsigned,
    ]

    private static let get = [
        OptionConflict("quiet", "verbose", "one prints errors only, the other every request"),
        OptionConflict("quiet", "progress", "nothing but errors is printed"),
        OptionConflict("quiet", "dry-run", "what is found would not be printed"),
        OptionConflict("save-cookies", "dry-run", "the requests of --dry-run keep no cookies"),
        OptionConflict("stdout", "output", "one writes to standard output, the other to a file"),
        OptionConflict("stdout", "to", "one writes to standard output, the other to an object"),
        OptionConflict("zsync", "metalink", "each describes the files in its own way"),
    ]

    private static let table: [String: [OptionConflict]] = [
        "get": download + get,
        "add": download + [
            OptionConflict("now", "paused", "one starts the downloads at once, the other not at all"),
            OptionConflict("no-start", "root", "--root is for a service that is started"),
            OptionConflict("no-start", "port", "--port is for a service that is started"),
        ], "set": [unsigned], "pause": someOrAll, "resume": someOrAll,
        "list": [OptionConflict("watch", "limit", "the live table has as many rows as the terminal")],
        "remove": [OptionConflict("delete-file", "keep-file", "one deletes the finished file, the other keeps it")],
        "serve": [
            OptionConflict("install", "uninstall", "one installs the unit, the other removes it"),
            OptionConflict("install", "background", "systemd runs an installed service in the background itself"),
            OptionConflict("print", "uninstall", "--print shows the unit that --install would write"),
            OptionConflict("secret", "secret-file", "there is one secret"),
            OptionConflict("no-secret", "secret", "one requires no secret, the other this one"),
            OptionConflict("no-secret", "secret-file", "one requires no secret, the other that of the file"),
            OptionConflict("sessions", "no-sessions", "one resumes background sessions, the other none"),
        ], "repair": [OptionConflict("metalink", "zsync", "each describes the file in its own way")],
        "pipe": [OptionConflict("partition", "retry-failed", "one fetches nothing, the other what failed")],
    ]

    /// The names of a command's options that can contradict others, for tests.
    static func names(of command: String) -> [String] { (table[command] ?? []).flatMap { [$0.first, $0.second] } }

    /// The commands with such options.
    static var commands: [String] { table.keys.sorted() }
}
