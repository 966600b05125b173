import Pawl
import PawlCore

// Maps aria2's options to those of a download.
extension Aria2Options {
    /// A request for one file; `others` are its mirrors.
    ///
    /// Options without a meaning here are stored with the download, since clients read them again.
    func request(_ source: String, mirrors: [String], root: String) throws(RPCError) -> DownloadRequest {
        var request = DownloadRequest(source)
        request.options.mirrors = mirrors
        try apply(to: &request.options, of: source, root: root)
        request.options.attributes = attributes
        request.allowsDuplicate = true
        request.id = self["gid"].flatMap { Download.ID($0) }
        if flag("pause") == true { request.start = .paused }
        return request
    }

    /// The form stored with a download.
    var attributes: [String: String] {
        var attributes: [String: String] = [:]
        for (name, value) in values where name != "pause" && name != "gid" {
            attributes["aria2." + name] = value
        }
        return attributes
    }

    /// Restores the stored options.
    static func remembered(in attributes: [String: String]) -> Aria2Options {
        var values: [String: String] = [:]
        for (name, value) in attributes where name.hasPrefix("aria2.") {
            values[String(name.dropFirst("aria2.".count))] = value
        }
        return Aria2Options(values)
    }

    /// Applies the given options to `options`; the others keep their values.
    func apply(to options: inout DownloadOptions, of source: String, root: String) throws(RPCError) {
        if let folder = self["dir"] { options.folder = try Self.folder(folder, root: root) }
        if let name = self["out"] { try Self.place(name, in: &options) }
        for name in ["dry-run", "hash-check-only", "parameterized-uri"] where flag(name) == true {
            throw RPCError("The option '--\(name)' is not supported.")
        }
        if let connections { options.connections = connections }
        if let lines = self["header"] { options.headers = lines.split(separator: "\n").map(String.init) }
        if let checksum = self["checksum"] { options.checksum = checksum }
        if let user = self["http-user"] ?? self["ftp-user"] { options.user = user }
        if let password = self["http-passwd"] ?? self["ftp-passwd"] { options.password = password }
        // An asterisk stands for the URL itself.
        if let referer = self["referer"] { options.referer = referer == "*" ? source : referer }
        if let agent = self["user-agent"] { options.userAgent = agent }
        if let proxy = proxy { options.proxy = proxy }
        if let hosts = self["no-proxy"] { options.noProxy = hosts }
        // 0 means unlimited in aria2; a number this large is as good.
        if let tries = number("max-tries") {
            options.retries = tries == 0 ? 1_000_000 : Int(clamping: tries - 1)
        }
        if let wait = number("retry-wait") { options.retryDelay = max(0.1, Double(wait)) }
        if let timeout = number("timeout") { options.timeout = Double(timeout) }
        if let wait = number("connect-timeout") { options.connectTimeout = Double(wait) }
        if let limit = number("max-download-limit") { options.rateLimit = limit == 0 ? nil : limit }
        if let floor = number("lowest-speed-limit") { options.lowestSpeed = floor == 0 ? nil : floor }
        if let interface = self["interface"] { options.interface = interface }
        if let keeps = flag("remote-time") { options.keepsServerTime = keeps }
        if let verifies = flag("check-certificate") { options.verifiesPeer = verifies }
        if flag("allow-overwrite") == true {
            options.existingFile = .overwrite
        } else if flag("continue") == true {
            options.existingFile = .resume
        } else if flag("auto-file-renaming") == false {
            options.existingFile = .fail
        }
    }

    /// aria2 limits the connections of a file by both; with their defaults, which clients send back, Pawl decides.
    private var connections: Int? {
        let bounds = ["split", "max-connection-per-server"].compactMap { name in
            self[name] == Aria2Option.table[name]?.fallback ? nil : number(name)
        }
        return bounds.min().map { Int(min($0, 64)) }
    }

    /// With the path and the checksum of a Metalink's file instead of its own.
    func naming(_ file: Metalink.File) -> Aria2Options {
        var values = values
        values["gid"] = nil
        values["out"] = (file.folders + [file.name]).joined(separator: "/")
        values["checksum"] = file.checksums.first?.text
        return Aria2Options(values)
    }

    private var proxy: String? {
        for (name, user, password) in [
            ("all-proxy", "all-proxy-user", "all-proxy-passwd"),
            ("https-proxy", "https-proxy-user", "https-proxy-passwd"),
            ("http-proxy", "http-proxy-user", "http-proxy-passwd"),
            ("ftp-proxy", "ftp-proxy-user", "ftp-proxy-passwd"),
        ] {
            guard let proxy = self[name] else { continue }
            let address = proxy.isEmpty || proxy.contains("://") ? proxy : "http://" + proxy
            guard let user = self[user], !address.contains("@"), let marks = address.firstRange(of: "://")
            else {
                return address
            }
            let login = Self.coded(user) + (self[password].map { ":" + Self.coded($0) } ?? "")
            return address[..<marks.upperBound] + login + "@" + address[marks.upperBound...]
        }
        return nil
    }

    /// Percent-encodes everything but letters and digits (RFC 3986 §2.1).
    private static func coded(_ text: String) -> String {
        text.utf8.map { byte -> String in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                return String(scalar)
            }
            return "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    /// `folder` relative to the root; one that is not inside it is refused.
    static func folder(_ folder: String, root: String) throws(RPCError) -> String {
        let refusal = RPCError("The folder \(folder) is not inside the download root \(root).")
        var rest = folder[...]
        if folder.hasPrefix("/") {
            guard folder == root || folder.hasPrefix(root + "/") else { throw refusal }
            rest = folder.dropFirst(root.count)
        }
        let parts = rest.split(separator: "/").filter { $0 != "." }
        guard !parts.contains("..") else { throw refusal }
        return parts.joined(separator: "/")
    }

    /// `out` may contain folders.
    private static func place(_ name: String, in options: inout DownloadOptions) throws(RPCError) {
        let parts = name.split(separator: "/").filter { $0 != "." }
        guard !name.hasPrefix("/"), !parts.contains(".."), let last = parts.last else {
            throw RPCError("We encountered a problem while processing the option '--out'.")
        }
        options.fileName = String(last)
        let folders = [options.folder == "." ? "" : options.folder] + parts.dropLast().map(String.init)
        options.folder = folders.filter { !$0.isEmpty }.joined(separator: "/")
    }
}
