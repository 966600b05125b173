import PawlCore

extension Aria2cOptions {
    private static let same = [
        "dir": "dir", "out": "output", "retry-wait": "retry-delay", "timeout": "timeout",
        "connect-timeout": "connect-timeout",
        "user-agent": "user-agent",
        "load-cookies": "load-cookies", "no-proxy": "no-proxy", "ca-certificate": "cacert",
        "certificate": "cert",
        "private-key": "key", "checksum": "checksum", "referer": "referer", "interface": "interface",
        "lowest-speed-limit": "lowest-speed-limit",
    ]

    /// The options of one download, as options of 'pawl get'.
    var words: [InputOption] {
        var words: [InputOption] = []
        func add(_ name: String, _ value: String) {
            words.append(InputOption(name: name, value: value, line: 0))
        }
        for (name, word) in Aria2cOptions.same.sorted(by: { $0.key < $1.key }) {
            if let value = self[name] { add(word, value) }
        }
        for line in (self["header"] ?? "").split(separator: "\n") { add("header", String(line)) }
        // aria2 limits the connections of a file by both.
        if let most = [number("split"), number("max-connection-per-server")].compactMap({ $0 }).min() {
            add("connections", String(min(most, 64)))
        }
        if let tries = number("max-tries") {
            add("retries", String(tries == 0 ? 1_000_000 : min(tries - 1, 1_000_000)))
        }
        let user = self["http-user"] ?? self["ftp-user"]
        if let user { add("user", user + ":" + (self["http-passwd"] ?? self["ftp-passwd"] ?? "")) }
        for name in ["all-proxy", "https-proxy", "http-proxy", "ftp-proxy"] {
            guard let proxy = self[name] else { continue }
            add("proxy", proxy.isEmpty || proxy.contains("://") ? proxy : "http://" + proxy)
            break
        }
        if self["check-certificate"] == "false" { add("insecure", "true") }
        if self["remote-time"] == "false" { add("no-remote-time", "true") }
        if flag("allow-overwrite") {
            add("if-exists", "overwrite")
        } else if flag("continue") {
            add("if-exists", "resume")
        } else if self["auto-file-renaming"] == "false" {
            add("if-exists", "fail")
        }
        return words
    }
}
