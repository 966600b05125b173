/// The EXAMPLES of the manual pages.
struct ManualExamples: Sendable {
    /// What a command line does, and the command line.
    private let entries: [(does: String, command: String)]

    private init(_ entries: [(does: String, command: String)]) { self.entries = entries }

    /// The section as roff.
    var roff: String {
        ".SH EXAMPLES\n"
            + entries.map { entry in
                ".TP\n\(ManualPage.line(entry.does)):\n.nf\n\\fB\(ManualPage.line(entry.command))\\fP\n.fi\n"
            }.joined()
    }

    static let overview = ManualExamples([
        (
            "Download a file; the same command resumes after an interruption",
            "pawl get https://example.org/image.iso"
        ),
        (
            "Add a file to the queue of the service, and start the service if none runs",
            "pawl add https://example.org/image.iso"
        ),
        ("Follow the queue", "pawl list --watch"),
        ("Open the web interface", "pawl web"),
    ])

    /// By the command's name.
    static let table: [String: ManualExamples] = [
        "get": ManualExamples([
            ("Download a file into a folder", "pawl get -d /srv/images https://example.org/image.iso"),
            (
                "Choose the name, and verify the content",
                "pawl get -o image.iso --checksum sha-256=DIGEST https://example.org/image.iso"
            ),
            (
                "Use another source of the same file as well",
                "pawl get --mirror https://mirror.example.net/image.iso https://example.org/image.iso"
            ),
            ("Download a list of URLs, eight at a time", "pawl get -j 8 -i urls.txt"),
            ("Write to another program", "pawl get -o - https://example.org/source.tar.gz | tar -xz"),
        ]),
        "add": ManualExamples([
            ("Add a file to the queue", "pawl add https://example.org/image.iso"),
            ("Start it at once, ahead of the queue", "pawl add --now https://example.org/image.iso"),
        ]),
        "pipe": ManualExamples([
            (
                "Check a list of URLs: status, size, type and SHA-256 of each",
                "pawl pipe --contact me@example.org <urls.txt >results.jsonl"
            ),
            (
                "Store each sample as a file",
                "pawl pipe --contact me@example.org --to images --accept 'image/*' <jobs.jsonl >results.jsonl"
            ),
            (
                "Make a WebDataset shard, once, however often this is started",
                "pawl pipe --contact me@example.org --to shards --format tar --shard 00017 <00017.in >00017.results"
            ),
            (
                "Fetch what failed there into a shard of its own, 00017.1",
                "pawl pipe --contact me@example.org --to shards --format tar --retry-failed shards/00017.jsonl"
            ),
        ]),
        "verify": ManualExamples([
            ("Check files against a sums file", "pawl verify *.iso --sums SHA256SUMS"),
            ("Check one file", "pawl verify image.iso --checksum sha-256=DIGEST"),
        ]),
        "repair": ManualExamples([
            ("Fetch the pieces of a Metalink that are wrong", "pawl repair f.iso --metalink f.iso.meta4"),
            ("Replace what differs from a URL", "pawl repair f.iso --from https://example.org/f.iso"),
        ]),
        "clear": ManualExamples([
            ("Take finished downloads off the list", "pawl clear"),
            ("Failed ones too", "pawl clear --failed"),
        ]),
        "slots": ManualExamples([("Run five downloads at the same time", "pawl slots 5")]),
        "set": ManualExamples([
            ("Log in, with a prompt for the password", "pawl set 3f9a --user me"),
            ("Use four connections", "pawl set 3f9a --connections 4"),
        ]),
        "list": ManualExamples([
            ("Show the queue, and keep it up to date", "pawl list --watch"),
            ("One JSON object per line, for programs", "pawl list --json"),
        ]),
        "show": ManualExamples([("Show one download by the start of its ID", "pawl show 3f9a")]),
        "pause": ManualExamples([
            ("Pause one download", "pawl pause 3f9a"), ("Pause all", "pawl pause --all"),
        ]),
        "resume": ManualExamples([
            ("Resume one download", "pawl resume 3f9a"), ("Resume all", "pawl resume --all"),
        ]),
        "start": ManualExamples([("Start a download ahead of the queue", "pawl start 3f9a")]),
        "remove": ManualExamples([("Remove a download from the queue", "pawl remove 3f9a")]),
        "rename": ManualExamples([("Give a download's file another name", "pawl rename 3f9a image.iso")]),
        "move": ManualExamples([("Move a download to the front of the queue", "pawl move 3f9a 0")]),
        "url": ManualExamples([
            (
                "Replace an expired URL; the bytes on disk stay",
                "pawl url 3f9a 'https://example.org/image.iso?token=NEW'"
            )
        ]),
        "limit": ManualExamples([("Limit all downloads together to 2 MiB/s", "pawl limit 2M")]),
        "wait": ManualExamples([("Wait until a download ends", "pawl wait 3f9a")]),
        "status": ManualExamples([("Check from a script that the service runs", "pawl status --json")]),
        "web": ManualExamples([("Open the web interface in the browser", "pawl web")]),
        "stop": ManualExamples([("Stop the service; downloads resume at its next start", "pawl stop")]),
        "serve": ManualExamples([
            ("Run the service for a folder", "pawl serve --root /srv/downloads"),
            ("Install it as a systemd user service", "pawl serve --install"),
            ("Show the unit without installing it", "pawl serve --install --print"),
            ("Remove the unit; queue and files stay", "pawl serve --uninstall"),
        ]),
        "aria2c": ManualExamples([
            ("Serve aria2 clients", "pawl aria2c --enable-rpc --rpc-secret=TEXT --dir=/srv/downloads")
        ]),
        "completions": ManualExamples([
            ("Complete commands in this shell", "source <(pawl completions bash)")
        ]),
        "help": ManualExamples([
            ("Show the options of a command", "pawl help get"),
            ("Read the manual page of a command that is not installed", "pawl help --man get | man -l -"),
        ]),
    ]
}
