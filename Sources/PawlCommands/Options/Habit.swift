import PawlCore

/// An option of curl, wget or aria2 that Pawl does not have, with Pawl's word for it.
enum Habit {
    /// The hint for an option as it was written, with its dashes; `nil` for one of no known tool.
    static func hint(for option: String) -> String? { hints[option] }

    private static let hints: [String: String] = {
        var hints: [String: String] = [:]
        for (options, hint) in table {
            for option in options.split(separator: " ") { hints[String(option)] = hint }
        }
        return hints
    }()

    private static let table: [(options: String, hint: String)] = [
        ("-a --append-output", "progress goes to standard error: redirect it with 2>> FILE"),
        ("-A", "use -U TEXT for the user agent"),
        ("-b --cookie", "use --load-cookies FILE, or -H 'Cookie: ...'"),
        ("--cookie-jar --save-cookies", "cookies are not saved; --load-cookies FILE sends them"),
        ("--content-disposition -J --remote-header-name", "the server's name is used by default"),
        ("-B --base", "give whole URLs"),
        ("-e", "use --referer URL"),
        ("-D --daemon --background", "use 'pawl add URL', which downloads in the background"),
        ("-I --head --spider", "use --dry-run to look without downloading"),
        (
            "-m --max-time --mirror-site -r --recursive -l --level -p --page-requisites",
            "Pawl downloads single files"
        ),
        ("-N --timestamping -z --time-cond", "a file that is there already is compared with the server's"),
        ("-n --netrc-optional", "~/.netrc is read by default; --netrc=FILE reads another"),
        ("-nc --no-clobber", "use --if-exists skip"),
        ("-nv --no-verbose", "use --progress plain, or -q"),
        ("-nd -x,--force-directories -nH", "use -d DIR"),
        ("-R --remote-time", "the server's time is kept by default; --no-remote-time turns that off"),
        ("-S --server-response --include --dump-header", "use --verbose to see requests and responses"),
        ("-t --tries --retry --max-tries", "use --retries N"),
        ("-T --connect-time --read-timeout --dns-timeout -Y --speed-limit", "use --timeout S"),
        ("-u --http-user --http-passwd --http-password --ftp-user", "use --user NAME:PASSWORD"),
        ("-w --wait --waitretry", "use --retry-delay S"),
        (
            "-X --request -d@ --data --data-raw --post-data --post-file -F --form",
            "Pawl sends GET requests only"
        ),
        ("-Z --parallel --parallel-max", "use -j N for simultaneous downloads"),
        ("-M", "use --metalink FILE"),
        ("-V", "use 'pawl --version'"),
        ("-1 -2 -3 -4 -6 --ipv4 --ipv6 --inet4-only --inet6-only", "use --interface ADDRESS of that family"),
        ("--compressed", "files are stored as the server has them"),
        ("--url", "give the URL without an option"),
        ("--create-dirs", "missing folders are created by default"),
        ("--remote-name-all --remote-name", "the server's name is used by default"),
        ("--output-document", "use -o FILE, or -o - for standard output"),
        ("--file-allocation --min-split-size --seed-time", "not needed: leave it out"),
        ("--allow-overwrite", "use --if-exists overwrite"),
        ("--auto-file-renaming", "use --if-exists rename"),
        ("--always-resume", "Pawl always resumes where the server allows it"),
        ("--limit", "use --limit-rate RATE"),
        ("--max-speed", "use --limit-rate RATE"),
    ]
}

/// Words that other tools use for Pawl's commands.
enum CommandHabit {
    static func command(for word: String) -> String? { words[word.lowercased()] }

    private static let words = [
        "ls": "list", "dir": "list", "ps": "list", "queue": "list", "top": "list --watch",
        "watch": "list --watch", "rm": "remove", "del": "remove", "delete": "remove", "cancel": "remove",
        "purge": "clear", "clean": "clear", "version": "--version", "--verison": "--version",
        "-v": "--version", "download": "get", "fetch": "get", "wget": "get", "curl": "get", "dl": "get",
        "info": "show", "details": "show", "stat": "show", "unpause": "resume", "continue": "resume",
        "retry": "resume", "mv": "rename", "kill": "stop", "quit": "stop", "daemon": "serve",
        "service": "serve", "ui": "web", "open": "web", "speed": "limit", "jobs": "slots", "edit": "set",
        "change": "set", "options": "set", "usage": "help",
    ]
}
