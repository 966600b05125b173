import PawlBase
import PawlIntegrity
import PawlTestKit
import Testing

/// An origin with one file, and what it states of it.
struct OriginStage {
    let bench: IntegrityBench
    let payload: Payload
    let content: [UInt8]
    /// Digests of the content and of its gzip form, by the programs of coreutils.
    let right: Digests
    let coded: Digests
    let wrong: Digests

    struct Digests {
        let sha256: [UInt8]
        let sha512: [UInt8]
        let md5: [UInt8]

        var sha: String { Base64.encode(sha256) }
        var sha5: String { Base64.encode(sha512) }
        var md: String { Base64.encode(md5) }
        var hex: String { Hexadecimal.text(sha256) }
        var hex5: String { Hexadecimal.text(sha512) }
        var hexMD5: String { Hexadecimal.text(md5) }
        fileprivate var inverted: Digests { Digests(sha256: sha256.map(~), sha512: sha512.map(~), md5: md5.map(~)) }
    }

    init(length: Int64 = 300_000) throws {
        bench = try IntegrityBench()
        payload = Payload(seed: 1802, length: length)
        content = payload.bytes
        right = try Self.digests(of: content, bench)
        coded = try Self.digests(of: StoredGzip.encode(content), bench)
        wrong = right.inverted
    }

    static func digests(of bytes: [UInt8], _ bench: IntegrityBench) throws -> Digests {
        try bench.write("digested", bytes)
        defer { FileSystem.remove(bench.folder.path("digested")) }
        let sums = try ["sha256sum", "sha512sum", "md5sum"].map {
            try #require(Hexadecimal.bytes(try bench.sum($0, of: "digested")))
        }
        return Digests(sha256: sums[0], sha512: sums[1], md5: sums[2])
    }

    /// Serves the content with these fields.
    @discardableResult func serve(
        _ fields: String..., at path: String = "/d/f.iso", _ adjust: (inout Behaviour) -> Void = { _ in }
    ) -> String {
        bench.origin.serve(path, payload) { behaviour in
            for field in fields { behaviour.add(header: field) }
            adjust(&behaviour)
        }
    }

    /// Serves the content elsewhere, behind a redirect with this field.
    func redirect(_ field: String) {
        serve(at: "/t")
        bench.origin.serve("/d/f.iso", Payload([])) {
            $0.instead = Behaviour.SubstituteResponse(302, lines: ["Location: /t", field])
        }
    }

    /// Serves a text.
    func put(_ path: String, _ text: String, _ adjust: (inout Behaviour) -> Void = { _ in }) {
        _ = bench.origin.serve(path, Payload(text: text)) {
            $0.contentType = "text/plain"
            adjust(&$0)
        }
    }

    var url: String { bench.origin.url("/d/f.iso") }

    /// Runs `pawl get`: the level that was reached, or the exit code.
    func get(_ arguments: [String], of url: String? = nil, isCoded: Bool = false) throws -> String {
        let outcome = try bench.bench.get([url ?? self.url, "-o", "f.iso"] + arguments)
        let isThere = bench.folder.names.contains("f.iso")
        guard outcome.code == 0 else {
            #expect(!isThere, "a refused file has its name: \(outcome)")
            return "\(outcome.code.map(String.init) ?? "too late")"
        }
        let isRight = bench.contents("f.iso") == (isCoded ? StoredGzip.encode(content) : content)
        #expect(isRight, "\(outcome)")
        return outcome.events("finished").last?.text("level") ?? "none"
    }
}

extension OriginStage {
    /// The paths of all sums files that may stand beside the content.
    static let sidecars = SidecarNames.own.map { "/d/f.iso" + $0 } + SidecarNames.common.map { "/d/" + $0 }

    /// What an origin sends at most of a file whose first MiB is read: its socket's buffers have the rest.
    static let most: Int64 = 32 << 20

    /// The body bytes that were sent in response to all requests for a path, running ones included.
    func sent(of path: String) -> Int64 { bench.origin.log.bodySent(path) }
}
