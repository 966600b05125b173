/// The examples of a command, for its help and its manual page.
struct CommandExamples: Sendable {
    /// Command lines with a description.
    private let entries: [(line: String, does: String)]

    private init(_ entries: [(line: String, does: String)]) { self.entries = entries }

    /// The section EXAMPLES of a manual page.
    var roff: String {
        ".SH EXAMPLES\n"
            + entries.map { entry in
                ".TP\n\(ManualPage.line(entry.does)):\n.nf\n\\fB\(ManualPage.line(entry.line))\\fP\n.fi\n"
            }.joined()
    }

    /// For help texts: two columns if they fit, else each description above its command line.
    func help(_ layout: HelpLayout) -> String {
        let width = entries.map(\.line.count).max() ?? 0
        guard entries.allSatisfy({ width + $0.does.count + 4 <= layout.width }) else {
            let texts = entries.map {
                layout.paragraph("\($0.does):", first: "  ") + layout.command($0.line, indent: 6)
            }
            return "Examples:\n" + texts.joined() + "\n"
        }
        return "Examples:\n"
            + entries.map { entry in
                let space = String(repeating: " ", count: width - entry.line.count + 2)
                return "  \(entry.line)\(space)\(entry.does)\n"
            }.joined() + "\n"
    }

    static let overview = CommandExamples([
        ("pawl get https://example.org/image.iso", "Download a file; the same command resumes it"),
        ("pawl add https://example.org/image.iso", "Add a file to the queue of the service"),
        ("pawl list --watch", "Follow the queue"), ("pawl web", "Open the web interface"),
    ])

    /// The examples by command.
    static let table: [String: CommandExamples] = [
        "get": CommandExamples([
            ("pawl get URL", "Download into this folder"),
            ("pawl get -o disk.iso -x 8 URL", "Choose the name and connections"),
            ("pawl get -d Films -j 5 -i list.txt", "Download a list, five at a time"),
            ("pawl get --checksum sha-256=HEX URL", "Verify the content"),
            ("pawl get --mirror URL2 URL", "Use a mirror as well"),
            ("pawl get -o - URL | tar -xz", "Write to another program"),
            ("pawl get --recursive -d data URL/", "Download a folder; again: what changed"),
            ("pawl get hf://org/model", "Download a model into its cache"),
            ("pawl get docker://alpine -d alpine", "Download an image"),
            ("pawl get URL --to s3://bucket/f.iso", "Store as an object"),
        ]),
        "list-remote": CommandExamples([
            ("pawl list-remote URL/", "List the files below a URL"),
            ("pawl list-remote --json --max-depth 0 URL/", "Those of one folder, as JSON"),
        ]),
        "hosts": CommandExamples([
            ("pawl hosts", "Show the limits of hosts that are known"),
            ("pawl hosts --forget example.org", "Forget that of a host"),
        ]),
        "add": CommandExamples([
            ("pawl add URL", "Add a file to the queue"),
            ("pawl add --now --group films URL", "Start it at once, in a group"),
            ("pawl add --start-at 23:00 URL", "Start it at 23:00"),
        ]),
        "pipe": CommandExamples([
            ("pawl pipe --contact me@example.org <urls.txt >results.jsonl", "Check a list: status, size, SHA-256"),
            ("pawl pipe --contact me@example.org --to images <jobs >results", "Store each sample as a file"),
            (
                "pawl pipe --contact me@example.org --to out --format tar --shard 17 <in",
                "Store all samples in one archive, out/17.tar"
            ), ("pawl pipe --contact m@e.org --to s3://b/p --format tar --shard 17 <in", "The same in a bucket"),
        ]),
        "verify": CommandExamples([
            ("pawl verify SHA256SUMS", "Check all files that a sums file lists"),
            ("pawl verify *.iso --sums SHA256SUMS", "Check files against a sums file"),
            ("pawl verify f.iso --checksum sha-256=HEX", "Check one file"),
        ]),
        "repair": CommandExamples([
            ("pawl repair f.iso --metalink f.iso.meta4", "Fetch the pieces that are wrong"),
            ("pawl repair f.iso --from URL", "Replace what differs from a URL"),
        ]),
        "clear": CommandExamples([
            ("pawl clear", "Take finished downloads off the list"),
            ("pawl clear --failed", "Take failed ones off the list too"),
        ]),
        "timetable": CommandExamples([
            ("pawl timetable '08:00-18:00 1M, else none'", "Limit the speed by day"),
            ("pawl timetable 'Mon-Fri 08:00-18:00 pause, else none'", "Download outside of office hours only"),
        ]),
        "slots": CommandExamples([
            ("pawl slots", "Show the number of simultaneous downloads"),
            ("pawl slots 5", "Run five downloads at a time"),
        ]),
        "set": CommandExamples([
            ("pawl set 3f2a --user me", "Log in; asks for the password"),
            ("pawl set 3f2a -x 4 --checksum sha-256=...", "Set connections and checksum"),
            ("pawl set 3f2a --limit-rate none", "Remove its limit"),
        ]),
        "list": CommandExamples([
            ("pawl list --state running", "Show what runs now"),
            ("pawl list --find debian --watch", "Follow downloads by name or URL"),
            ("pawl list --json", "Print one JSON object per line, for programs"),
        ]), "show": CommandExamples([("pawl show 3f2a", "Show one download by the start of its ID")]),
        "check": CommandExamples([
            ("pawl check 3f2a", "Compare a finished file with its digests"),
            ("pawl check --repair 3f2a", "Fetch again what is wrong in it"),
        ]), "pause": CommandExamples([("pawl pause 3f2a", "Pause one download"), ("pawl pause --all", "Pause all")]),
        "resume": CommandExamples([("pawl resume 3f2a", "Resume one download"), ("pawl resume --all", "Resume all")]),
        "start-over": CommandExamples([("pawl start-over 3f2a", "Discard what a failed download has received")]),
        "start": CommandExamples([("pawl start 3f2a", "Start a download ahead of the queue")]),
        "remove": CommandExamples([
            ("pawl remove 3f2a", "Take it off the list; a finished file stays"),
            ("pawl remove --delete-file 3f2a", "Delete its file as well"),
        ]), "rename": CommandExamples([("pawl rename 3f2a image.iso", "Give a download's file another name")]),
        "move": CommandExamples([
            ("pawl move 3f2a first", "Move a download to the front of the queue"),
            ("pawl move 3f2a +2", "Move it two places back"),
        ]), "url": CommandExamples([("pawl url 3f2a NEW-URL", "Replace an expired URL; the data on disk stays")]),
        "limit": CommandExamples([
            ("pawl limit", "Show the limit"), ("pawl limit 2M", "Limit all downloads together to 2 MiB/s"),
            ("pawl limit none 3f2a", "Remove the limit of one download"),
        ]), "wait": CommandExamples([("pawl wait 3f2a", "Wait until a download ends")]),
        "status": CommandExamples([("pawl status --json", "Check from a script whether the service runs")]),
        "web": CommandExamples([("pawl web", "Open the web interface in the browser")]),
        "rules": CommandExamples([
            ("pawl rules add type:video Films", "Store films in their own folder"),
            ("pawl rules add host:example.org Example", "Store files of a host in a folder"),
        ]), "at-end": CommandExamples([("pawl at-end nothing", "Keep the machine on this time")]),
        "mcp": CommandExamples([("pawl mcp", "Serve tools to a program that runs it")]),
        "stop": CommandExamples([("pawl stop", "Stop the service; downloads resume at its next start")]),
        "serve": CommandExamples([
            ("pawl serve --root /srv/downloads", "Run the service for a folder"),
            ("pawl serve -D --root ~/Downloads", "Run it in the background"),
            ("pawl serve --install", "Install it as a systemd user service"),
            ("pawl serve --install --print", "Show the unit without installing it"),
            ("pawl serve --uninstall", "Remove the unit; queue and files stay"),
        ]), "aria2c": CommandExamples([("pawl aria2c --enable-rpc --rpc-secret=TEXT", "Serve aria2 clients")]),
        "completions": CommandExamples([("source <(pawl completions bash)", "Complete commands in this shell")]),
        "help": CommandExamples([
            ("pawl help get", "Show the options of a command"),
            ("pawl help --man get | man -l -", "Read a manual page that is not installed"),
        ]),
    ]
}
