/// The examples at the beginning of a command's help.
enum HelpExamples {
    static func text(of command: String) -> String {
        guard let examples = table[command] else { return "" }
        let width = examples.map(\.line.count).max() ?? 0
        return "Examples:\n"
            + examples.map { example in
                let space = String(repeating: " ", count: width - example.line.count + 2)
                return "  \(example.line)\(space)\(example.does)\n"
            }.joined() + "\n"
    }

    private static let table: [String: [(line: String, does: String)]] = [
        "get": [
            ("pawl get URL", "into this folder"),
            ("pawl get -o disk.iso -x 8 URL", "name, eight connections"),
            ("pawl get -d Films -j 5 -i list.txt", "a list, five at a time"),
            ("pawl get -o - URL | tar xz", "to standard output"),
        ],
        "add": [
            ("pawl add URL", "into the queue"),
            ("pawl add --now --group films URL", "at once, in a group"),
        ],
        "list": [
            ("pawl list --state running", "what runs now"),
            ("pawl list --find debian --watch", "live, by name or URL"),
        ],
        "remove": [
            ("pawl remove 3f2a", "off the list; a finished file stays"),
            ("pawl remove --delete-file 3f2a", "with its file"),
        ],
        "limit": [
            ("pawl limit", "show the limit"), ("pawl limit 2M", "all downloads together"),
            ("pawl limit none 3f2a", "no limit for one"),
        ],
        "slots": [("pawl slots", "show the number"), ("pawl slots 5", "five downloads at a time")],
        "set": [
            ("pawl set 3f2a --user me", "log in; asks for the password"),
            ("pawl set 3f2a -x 4 --checksum sha-256=...", "connections, checksum"),
            ("pawl set 3f2a --limit-rate none", "remove its limit"),
        ],
        "move": [("pawl move 3f2a first", "next in the queue"), ("pawl move 3f2a +2", "two places back")],
        "serve": [
            ("pawl serve --install", "as a systemd user service"),
            ("pawl serve -D --root ~/Downloads", "in the background"),
        ],
    ]
}
