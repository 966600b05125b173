/// lighttpd over HTTP/1.1; paths under `/digest/` and `/basic/` require a login.
package final class LighttpdServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let server: Released<ServerProcess>

    /// Without `validators` its responses have neither ETag nor Last-Modified.
    ///
    /// lighttpd responds so for files without a configured type.
    package init(
        _ site: ServedFolder, user: String = "pawl", password: String = "secret", validators: Bool = true
    ) throws(SetupFailure) {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        try FileSystem.write(Array("\(user):\(password)\n".utf8), to: folder.path("users"))
        let configuration = """
            server.modules = ("mod_auth", "mod_authn_file", "mod_accesslog", "mod_alias")
            server.document-root = "\(site.path)"
            server.bind = "127.0.0.1"
            server.port = \(port)
            server.upload-dirs = ("\(folder.path)")
            accesslog.filename = "\(folder.path("access.log"))"
            accesslog.format = "%s|%{Range}i|%b|%U"
            \(validators ? "mimetype.assign = (\"\" => \"application/octet-stream\")" : "")
            alias.url = ("/digest/" => "\(site.path)/", "/basic/" => "\(site.path)/")
            auth.backend = "plain"
            auth.backend.plain.userfile = "\(folder.path("users"))"
            auth.require = (
                "/digest/" => ("method" => "digest", "realm" => "pawl", "require" => "valid-user"),
                "/basic/" => ("method" => "basic", "realm" => "pawl", "require" => "valid-user")
            )
            """
        try FileSystem.write(Array(configuration.utf8), to: folder.path("lighttpd.conf"))
        server = Released(try ServerProcess("lighttpd", ["-D", "-f", "lighttpd.conf"], in: folder, ports: [port]))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Stops the server and returns its access log: `status|Range|bytes|path` a line.
    package func finish() -> [String] {
        server.release()
        let log = String(decoding: FileSystem.contents(folder.path("access.log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").map(String.init)
    }
}
