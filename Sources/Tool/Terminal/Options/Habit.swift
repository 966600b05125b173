/// An option of curl, wget or aria2 that Pawl does not have, with Pawl's word for it.
enum Habit {
    /// The hint for an option as it was written, with its dashes; `nil` for one of no known tool.
    static func hint(for option: String, in command: String) -> String? {
        (command == "add" || command == "set" ? queueHints[option] : nil) ?? hints[option]
    }

    private static let hints = hints(of: table)
    private static let queueHints = hints(of: queue)

    private static func hints(of table: [(options: String, hint: String)]) -> [String: String] {
        var hints: [String: String] = [:]
        for (options, hint) in table { for option in options.split(separator: " ") { hints[String(option)] = hint } }
        return hints
    }

    /// Options of `get` that a download in the queue does not have.
    private static let queue: [(options: String, hint: String)] = [
        ("-v --verbose", "'pawl get -v URL' shows requests; 'pawl show ID' shows a download of the queue"),
        ("--dry-run", "use 'pawl get --dry-run URL'"),
        ("-j --jobs --max-concurrent-downloads", "use 'pawl slots N' for simultaneous downloads"),
        ("--progress -#", "use 'pawl list --watch' to see progress"), ("--stdout", "use 'pawl get -o - URL'"),
        ("--save-cookies --cookie-jar", "use 'pawl get'"),
        ("--deny-private-addresses", "'pawl serve' decides it for the whole queue"),
        ("--zsync --seed", "use 'pawl get'"),
    ]

    private static let table: [(options: String, hint: String)] = [
        ("-a --append-output", "progress goes to standard error: redirect it with 2>> FILE"),
        ("-A", "use -U TEXT for the user agent"), ("-b --cookie", "use --load-cookies FILE, or -H 'Cookie: ...'"),
        ("--content-disposition", "the server's name is used by default"), ("-B --base", "give whole URLs"),
        ("-e", "use --referer URL"),
        ("-D --daemon --background", "use 'pawl add URL', which downloads in the background"),
        ("-I --head --spider", "use --dry-run to look without downloading"),
        (
            "-m --max-time",
            "there is no limit on the whole time: 'timeout S pawl get ...' pauses after S seconds; --timeout S limits silence"
        ), ("-r", "for curl's -r use --range A-B; for wget's use --recursive"),
        ("-l --level", "use --recursive and --max-depth N"),
        ("--no-parent", "links to folders above are never followed"),
        ("--mirror-site -p --page-requisites", "Pawl does not download pages with what they show; see --recursive"),
        ("-0 -1 -2 -3 --http1.0 --http1.1 --http2 --tlsv1.2 --tlsv1.3", "versions are negotiated with the server"),
        ("-E", "use --cert FILE and --key FILE"), ("-g --globoff", "URLs are used as they are given"),
        ("-K --config", "options are given on the command line, or below their URL in the file of -i"),
        ("-y -Y --speed-limit --speed-time", "use --lowest-speed-limit RATE"),
        ("-Q --quote", "Pawl sends no commands of the user to FTP servers"),
        ("--cert-type --key-type", "certificates and keys are PEM files"),
        ("-N --timestamping -z --time-cond", "an existing file is compared with the server's"),
        ("-n --netrc-optional --netrc-file --netrc-path", "~/.netrc is read by default; --netrc=FILE reads another"),
        ("-nc --no-clobber", "use --if-exists skip"), ("-nv --no-verbose", "use --progress plain, or -q"),
        ("-nd -x,--force-directories -nH --output-dir", "use -d DIR"),
        ("-S --server-response --include --dump-header", "use --verbose to see requests and responses"),
        ("-t --tries --retry --max-tries", "use --retries N"),
        ("-T --connect-time --read-timeout --dns-timeout --read-write-timeout", "use --timeout S"),
        ("-u --http-user --http-passwd --http-password --ftp-user", "use --user NAME:PASSWORD"),
        ("-w --wait --waitretry --retry-wait", "use --retry-delay S"),
        (
            "-X --request -d@ --data --data-raw --post-data --post-file -F --form -G --get",
            "Pawl sends GET requests only"
        ), ("-Z --parallel --parallel-max", "use -j N for simultaneous downloads"), ("-M", "use --metalink FILE"),
        ("-V", "use 'pawl --version'"),
        // Where a command has no short forms.
        ("-4 --ipv4 --inet4-only", "use --ip-version 4"), ("-6 --ipv6 --inet6-only", "use --ip-version 6"),
        ("--compressed", "files are stored as the server has them"), ("--url", "give the URL without an option"),
        ("--create-dirs", "missing folders are created by default"),
        ("--remote-name-all --remote-name", "the server's name is used by default"),
        ("--output-document", "use -o FILE, or -o - for standard output"),
        ("--file-allocation --min-split-size --seed-time", "not needed: leave it out"),
        ("--allow-overwrite", "use --if-exists overwrite"), ("--auto-file-renaming", "use --if-exists rename"),
        ("--always-resume", "Pawl always resumes where the server allows it"), ("--limit", "use --limit-rate RATE"),
        ("--max-speed --max-download-limit", "use --limit-rate RATE"),
        (
            "--http-proxy --https-proxy --ftp-proxy --socks4 --socks4a --socks5 --socks5-hostname --preproxy",
            "use --proxy URL, such as --proxy socks5h://HOST:PORT"
        ),
        (
            "--proxy-user --proxy-password --all-proxy-user --all-proxy-passwd --http-proxy-user --http-proxy-passwd "
                + "--https-proxy-user --https-proxy-passwd --ftp-proxy-user --ftp-proxy-passwd",
            "give the proxy's login in its URL: --proxy http://USER:PASSWORD@HOST:PORT"
        ), ("--check-certificate", "certificates are verified by default; -k, --insecure disables that"),
        ("--capath --ca-directory", "use --cacert FILE"),
        ("--retry-all-errors --retry-connrefused", "failures that may pass are retried by default; use --retries N"),
        ("--bind-address", "use --interface NAME"), ("--prefer-family", "use --ip-version 4 or 6"),
        ("--enable-rpc --conf-path --save-session --log", "use 'pawl serve', or 'pawl aria2c' with aria2's options"),
        (
            "--basic --digest --anyauth --http-auth-challenge",
            "the server decides how to log in; use --user NAME:PASSWORD"
        ), ("--trust-server-names", "use --naming server"),
    ]
}

/// Words that other tools use for Pawl's commands.
package enum CommandHabit {
    package static func command(for word: String) -> String? { words[word.lowercased()] }

    private static let words = [
        "ls": "list", "dir": "list", "ps": "list", "queue": "list", "top": "list --watch", "watch": "list --watch",
        "rm": "remove", "del": "remove", "delete": "remove", "cancel": "remove", "purge": "clear", "clean": "clear",
        "version": "--version", "--verison": "--version", "-v": "--version", "download": "get", "fetch": "get",
        "wget": "get", "curl": "get", "dl": "get", "info": "show", "details": "show", "stat": "show",
        "unpause": "resume", "continue": "resume", "retry": "resume", "mv": "rename", "kill": "stop", "quit": "stop",
        "daemon": "serve", "service": "serve", "ui": "web", "open": "web", "speed": "limit", "jobs": "slots",
        "edit": "set", "change": "set", "options": "set", "usage": "help",
    ]
}
