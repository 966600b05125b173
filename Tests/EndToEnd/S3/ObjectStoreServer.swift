import PawlBase
import PawlS3
import PawlTestKit

/// The small object store of `Tests/ObjectStore`, which checks signatures on its own and misbehaves on demand.
struct ObjectStoreServer {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let authority: TestAuthority?
    let port: UInt16

    /// Over TLS with certificates of the authority, if one is given.
    init(authority: TestAuthority? = nil) throws {
        self.authority = authority
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let script = Checkout.root + "/Tests/ObjectStore/object_store.py"
        let files = authority.map { [$0.certificate, $0.key] } ?? []
        server = try ServerProcess("python3", ["-u", script, "\(port)"] + files, in: folder, ports: [port])
    }

    var endpoint: String { "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)" }

    /// Requests without a signature, with the authority's certificate.
    private func curl(_ arguments: String...) throws -> PawlProcess {
        let trust = authority.map { ["--cacert", $0.authority] } ?? []
        return try PawlProcess.run("/usr/bin/curl", ["-sS"] + trust + arguments)
    }

    /// What a program needs to use it.
    var environment: [String: String] {
        [
            "AWS_ENDPOINT_URL_S3": endpoint, "AWS_ACCESS_KEY_ID": "TESTKEY", "AWS_SECRET_ACCESS_KEY": "test/secret+key",
            "AWS_CONFIG_FILE": "/nonexistent",
        ]
    }

    /// Changes its behaviour, see the script.
    func control(_ json: String) throws { _ = try curl("-X", "POST", "-d", json, endpoint + "/_control") }

    /// The operations so far, each with its key, part and range.
    func operations() throws -> [String] {
        let process = try curl(endpoint + "/_log")
        return process.output.split(separator: "{").dropFirst().map(String.init)
    }

    /// Returns when there were so many of the operation.
    func wait(for operation: String, count: Int) throws {
        _ = try curl(endpoint + "/_wait?op=\(operation)&count=\(count)")
    }

    /// Bucket and key of each object, and the keys of uploads that were not completed.
    func state() throws -> (objects: [String], uploads: [String]) {
        let state = try JSON.parse(try curl(endpoint + "/_state").output)
        func names(_ name: String) -> [String] { state[name]?.array?.compactMap(\.string).sorted() ?? [] }
        return (names("objects"), names("uploads"))
    }

    /// Stores an object in the bucket that needs no signature, under any key.
    func put(public key: String, _ content: String) throws {
        let path = S3Text.encoded(key.utf8, keepingSlash: true)
        _ = try curl("-X", "PUT", "--path-as-is", "--data-binary", content, endpoint + "/public/" + path)
    }

    /// Deletes an object of the bucket that needs no signature.
    func delete(public key: String) throws { _ = try curl("-X", "DELETE", endpoint + "/public/" + key) }

    func count(_ operation: String) throws -> Int { try operations().count { $0.contains("\"op\": \"\(operation)\"") } }
}
