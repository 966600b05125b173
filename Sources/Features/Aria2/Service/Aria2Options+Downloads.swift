import Pawl
import PawlBase
import PawlIntegrity
import PawlWeb

// The downloads that calls ask for.
extension Aria2Options {
    /// A request for one file; `others` are its mirrors.
    ///
    /// Options without a meaning here are stored with the download, since clients read them again.
    func request(
        _ source: String, mirrors: [String], root: String, defaults: DownloadOptions = DownloadOptions()
    ) throws(RPCError) -> DownloadRequest {
        var request = DownloadRequest(source)
        request.options = defaults
        request.options.mirrors = mirrors
        try apply(to: &request.options, of: source, root: root)
        request.options.attributes = attributes
        request.allowsDuplicate = true
        request.choosesFolder = self["dir"] != nil || self["out"]?.contains("/") == true
        request.id = self["gid"].flatMap { Download.ID($0) }
        if flag("pause") == true { request.start = .paused }
        request.checksExistingFile = flag("check-integrity") == true
        request.takeStreams()
        return request
    }

    /// A request for each file of a Metalink.
    func requests(_ metalink: Metalink, root: String, usesOwnersSecrets: Bool) throws(RPCError) -> [DownloadRequest] {
        var requests: [DownloadRequest] = []
        for file in metalink.files {
            let sources = file.sources(preferring: self["metalink-preferred-protocol"], near: self["metalink-location"])
                .map(\.text)
            var request = try naming(file).request(sources[0], mirrors: Array(sources.dropFirst()), root: root)
            // aria2's option has one digest only.
            if !file.checksums.isEmpty { request.options.checksum = file.checksums.text }
            request.options.expectedLength = file.size
            request.pieces = file.pieces
            request.options.usesOwnersSecrets = usesOwnersSecrets
            requests.append(request)
        }
        return requests
    }

    /// The options without credentials, cookies, header fields and referer.
    var withoutSecrets: Aria2Options {
        let secrets: Set = ["header", "http-user", "http-passwd", "ftp-user", "ftp-passwd", "load-cookies", "referer"]
        return Aria2Options(values.filter { !secrets.contains($0.key) })
    }

    /// Marks downloads that were added by a service running as `aria2c`.
    static let standInMark = "stand-in"

    /// The form stored with a download.
    var attributes: [String: String] {
        var attributes: [String: String] = [:]
        for (name, value) in values where name != "pause" && name != "gid" { attributes["aria2." + name] = value }
        return attributes
    }

    /// Restores the stored options, without those of the service at that time: a download has none of them.
    static func remembered(in attributes: [String: String]) -> Aria2Options {
        var values: [String: String] = [:]
        for (key, value) in attributes where key.hasPrefix("aria2.") {
            let name = String(key.dropFirst("aria2.".count))
            guard Aria2Option.table[name]?.scope.contains(.initial) == true else { continue }
            values[name] = value
        }
        return Aria2Options(values)
    }

    /// Applies the given options to `options`; the others keep their values.
    func apply(to options: inout DownloadOptions, of source: String, root: String) throws(RPCError) {
        if let folder = self["dir"] { options.folder = try Self.folder(folder, root: root) }
        if let name = self["out"], !name.isEmpty { try Self.place(name, in: &options) }
        for name in ["dry-run", "hash-check-only"] where flag(name) == true {
            throw RPCError("The option '--\(name)' is not supported.")
        }
        // With their defaults, which clients send back, Pawl decides.
        let given = values.filter { name, value in
            !["split", "max-connection-per-server"].contains(name) || value != Aria2Option.table[name]?.fallback
        }
        do throws(Failure) { try Aria2Options(given).apply(to: &options, of: source) } catch {
            throw RPCError(Int(error.code.rawValue), error.description)
        }
    }

    /// With the path and the checksum of a Metalink's file instead of its own.
    func naming(_ file: Metalink.File) -> Aria2Options {
        naming((file.folders + [file.name]).joined(separator: "/"), checksum: file.checksums.first?.text)
    }

    func naming(_ path: String, checksum: String?) -> Aria2Options {
        var values = values
        (values["gid"], values["out"], values["checksum"]) = (nil, path, checksum)
        return Aria2Options(values)
    }

    /// `folder` relative to the root; one that is not inside it is refused.
    static func folder(_ folder: String, root: String) throws(RPCError) -> String {
        let refusal = RPCError("The folder \(folder) is not inside the download root \(root).")
        var rest = folder
        if folder.isAbsolutePath {
            // In bytes: a folder whose name is only canonically equivalent to the root's is another one.
            guard let below = (folder + "/").afterBytes(of: root + "/") else { throw refusal }
            rest = below
        }
        let parts = rest.pathParts().filter { $0 != "." }
        guard !parts.contains("..") else { throw refusal }
        return parts.joined(separator: "/")
    }

    /// The folder that `dir` and `out` name together, relative to the root.
    func folder(root: String) throws(RPCError) -> String {
        var options = DownloadOptions()
        options.folder = try Self.folder(self["dir"] ?? "", root: root)
        if let name = self["out"], !name.isEmpty { try Self.place(name, in: &options) }
        return options.folder
    }

    /// `out` may contain folders.
    private static func place(_ name: String, in options: inout DownloadOptions) throws(RPCError) {
        let parts = name.pathParts().filter { $0 != "." }
        guard !name.isAbsolutePath, !parts.contains(".."), let last = parts.last else {
            throw RPCError("We encountered a problem while processing the option '--out'.")
        }
        options.fileName = String(last)
        let folders = [options.folder == "." ? "" : options.folder] + parts.dropLast().map(String.init)
        options.folder = folders.filter { !$0.isEmpty }.joined(separator: "/")
    }
}
