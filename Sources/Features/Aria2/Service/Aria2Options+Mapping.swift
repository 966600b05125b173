import Glibc
package import Pawl
package import PawlBase
import PawlCore
import PawlSystem

// Maps aria2's options to those of a download, for calls and for aria2c's command line.
extension Aria2Options {
    /// Applies the given options to `options`; the others keep their values.
    ///
    /// `dir` and `out` are left to the caller. Throws code 28.
    package func apply(to options: inout DownloadOptions, of source: String) throws(Failure) {
        for option in DownloadOption.table {
            guard let name = option.aria2, let text = self[name] else { continue }
            if text.isEmpty, Self.unsetByNothing.contains(name) {
                option.clear(&options)
            } else if option.placeholder == nil {
                // aria2's flags have the sense of the property.
                _ = option.restore(text, into: &options)
            } else if Aria2Option.table[name]?.kind == .lines {
                option.clear(&options)
                for line in text.split(separator: "\n") { try option.take(String(line), into: &options) }
            } else {
                option.clear(&options)
                try option.take(text, into: &options)
            }
        }
        // aria2 limits the connections of a file by both.
        let bounds = [number("split"), number("max-connection-per-server")].compactMap { $0 }
        if let least = bounds.min() { options.connections = Int(min(least, Int64(DownloadMachine.mostLanes))) }
        // 0 means unlimited in aria2; a number this large is as good.
        if let tries = number("max-tries") {
            let most = DownloadOption.mostRetries
            options.retries = tries == 0 ? most : Int(min(tries - 1, Int64(most)))
        }
        if let user = self["http-user"] ?? self["ftp-user"] { options.user = user }
        if let password = self["http-passwd"] ?? self["ftp-passwd"] { options.password = password }
        // An asterisk stands for the URL itself.
        if self["referer"] == "*" { options.referer = source }
        if let proxy = proxy(for: source) { options.proxy = proxy }
        if flag("disable-ipv6") == true { options.ipVersion = .v4 }
        if flag("http-no-cache") == true { options.headers += ["Cache-Control: no-cache", "Pragma: no-cache"] }
        if flag("allow-overwrite") == true {
            options.existingFile = .overwrite
        } else if flag("continue") == true {
            options.existingFile = .resume
        } else if flag("auto-file-renaming") == false {
            options.existingFile = .fail
        }
    }

    /// An empty value of these is none.
    private static let unsetByNothing: Set = ["ca-certificate", "interface", "load-cookies", "private-key"]

    /// Pawl's defaults, in aria2's form.
    static let standards: [String: String] = {
        let options = DownloadOptions()
        return [
            "check-certificate": "\(options.verifiesPeer)",
            "connect-timeout": "\((options.connectTimeout ?? options.timeout).components.seconds)",
            "max-tries": "\(options.retries + 1)", "remote-time": "\(options.keepsServerTime)",
            "retry-wait": "\(options.retryDelay.components.seconds)",
            "timeout": "\(options.timeout.components.seconds)",
        ]
    }()

    /// The proxy for a URL: that of its protocol, also from the environment, before that for all.
    private func proxy(for source: String) -> String? {
        let scheme = source.prefix { $0 != ":" }.lowercased()
        var name = "all-proxy"
        if ["http", "https", "ftp"].contains(scheme) {
            if self[scheme + "-proxy"] != nil {
                name = scheme + "-proxy"
            } else if Environment.value(scheme + "_proxy") != nil {
                return nil
            }
        }
        guard let proxy = self[name] else { return nil }
        let address = proxy.isEmpty || proxy.contains("://") ? proxy : "http://" + proxy
        guard let user = self[name + "-user"], !address.contains("@"), let marks = address.firstRange(of: "://") else {
            return address
        }
        var login = Self.coded(user)
        if let password = self[name + "-passwd"] { login += ":" + Self.coded(password) }
        return "\(address[..<marks.upperBound])\(login)@\(address[marks.upperBound...])"
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
}
