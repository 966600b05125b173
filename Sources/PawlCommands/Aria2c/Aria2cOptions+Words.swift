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

    /// What is meant for one download, in the words of 'pawl get'.
    var words: [InputOption] {
        var words: [InputOption] = []
        func say(_ name: String, _ value: String) {
            words.append(InputOption(name: name, value: value, line: 0))
        }
        for (name, word) in Aria2cOptions.same.sorted(by: { $0.key < $1.key }) {
            if let value = self[name] { say(word, value) }
        }
        for line in (self["header"] ?? "").split(separator: "\n") { say("header", String(line)) }
        // It bounds the connections of a file by both.
        if let most = [number("split"), number("max-connection-per-server")].compactMap({ $0 }).min() {
            say("connections", String(min(most, 64)))
        }
        if let tries = number("max-tries") {
            say("retries", String(tries == 0 ? 1_000_000 : min(tries - 1, 1_000_000)))
        }
        let user = self["http-user"] ?? self["ftp-user"]
        if let user { say("user", user + ":" + (self["http-passwd"] ?? self["ftp-passwd"] ?? "")) }
        for name in ["all-proxy", "https-proxy", "http-proxy", "ftp-proxy"] {
            guard let proxy = self[name] else { continue }
            say("proxy", proxy.isEmpty || proxy.contains("://") ? proxy : "http://" + proxy)
            break
        }
        if self["check-certificate"] == "false" { say("insecure", "true") }
        if self["remote-time"] == "false" { say("no-remote-time", "true") }
        if flag("allow-overwrite") {
            say("if-exists", "overwrite")
        } else if flag("continue") {
            say("if-exists", "resume")
        } else if self["auto-file-renaming"] == "false" {
            say("if-exists", "fail")
        }
        return words
    }
}
