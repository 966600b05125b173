import PawlBase
import Testing

@testable import PawlRegistry

@Suite struct DocumentTests {
    private static func digest(_ byte: String) -> String { "sha256:" + String(repeating: byte, count: 32) }

    private func parse(_ text: String, type: String? = nil) throws(RegistryDocument.Flaw) -> RegistryDocument {
        try RegistryDocument.parse(Array(text.utf8), type: type).document
    }

    private func blob(
        _ byte: String, _ type: String = "application/vnd.oci.image.layer.v1.tar+gzip", more: String = ""
    ) -> String {
        #"{"mediaType":"\#(type)","digest":"\#(Self.digest(byte))","size":7\#(more)}"#
    }

    @Test func `a manifest has its configuration and layers`() throws {
        let config = blob("01", "application/vnd.oci.image.config.v1+json")
        let text =
            #"{"schemaVersion":2,"config":\#(config),"layers":[\#(blob("02")),\#(blob("03", more: #","urls":["http://x/"]"#))]}"#
        guard case .manifest(let blobs, let isArtifact) = try parse(text) else {
            throw RegistryDocument.Flaw(why: "no manifest")
        }
        #expect(blobs.map(\.digest.text) == [Self.digest("01"), Self.digest("02"), Self.digest("03")])
        #expect(blobs.map(\.isForeign) == [false, false, true] && !isArtifact)
        let (_, type) = try RegistryDocument.parse(
            Array(text.utf8), type: "application/vnd.oci.image.manifest.v1+json; charset=x")
        #expect(type == RegistryDocument.ociManifest)
    }

    @Test(arguments: [
        "", "[]", "{}", "<html>", #"{"schemaVersion":1}"#, #"{"layers":[]}"#,
        #"{"manifests":[{"digest":"sha256:00","size":1}]}"#,
        #"{"manifests":[],"layers":[],"config":{}}"#, #"{"manifests":[{"digest":"\#(digest("01"))","size":-1}]}"#,
        #"{"manifests":[{"digest":"\#(digest("01"))"}]}"#,
    ])
    func `what cannot be checked is no manifest`(_ text: String) {
        #expect(throws: RegistryDocument.Flaw.self) { try parse(text) }
    }

    @Test func `a manifest is what both it and the response call it`() {
        let text = #"{"mediaType":"\#(RegistryDocument.ociIndex)","manifests":[]}"#
        #expect(throws: RegistryDocument.Flaw.self) { try parse(text, type: RegistryDocument.dockerIndex) }
        #expect(throws: Never.self) { try parse(text, type: "application/json") }
    }

    @Test func `the first manifest for the machine is chosen, and no attestation`() throws {
        func row(_ byte: String, _ platform: String, more: String = "") -> String {
            blob(byte, RegistryDocument.ociManifest, more: #","platform":\#(platform)\#(more)"#)
        }
        let text = """
            {"manifests":[\(row("01", #"{"os":"unknown","architecture":"unknown"}"#)),
            \(row("02", #"{"os":"linux","architecture":"arm","variant":"v6"}"#)),\(row("03", #"{"os":"linux","architecture":"arm","variant":"v7"}"#)),
            \(row("04", #"{"os":"linux","architecture":"amd64"}"#, more: #","annotations":{"vnd.docker.reference.type":"attestation-manifest"}"#)),
            \(row("05", #"{"os":"linux","architecture":"amd64"}"#)),\(row("06", #"{"os":"linux","architecture":"arm64","variant":"v8"}"#))]}
            """
        guard case .index(let images) = try parse(text) else { throw RegistryDocument.Flaw(why: "no index") }
        func chosen(_ platform: String) -> String? {
            Platform(platform).flatMap { images.manifest(for: $0) }?.digest.text
        }
        #expect(chosen("linux/amd64") == Self.digest("05") && chosen("linux/arm64") == Self.digest("06"))
        #expect(chosen("linux/arm/v7") == Self.digest("03") && chosen("linux/arm") == Self.digest("02"))
        #expect(chosen("linux/arm64/v8") == Self.digest("06") && chosen("windows/amd64") == nil)
        #expect(images.platforms == "linux/amd64, linux/arm/v6, linux/arm/v7, linux/arm64/v8")
        #expect(Platform("linux") == nil && Platform("linux/") == nil && Platform("a/b/c/d") == nil)
    }

    @Test func `an image replaces the one of its tag in the index, and others stay`() throws {
        let first = Descriptor(
            type: RegistryDocument.ociManifest, digest: try #require(RegistryDigest(Self.digest("01"))), size: 1)
        let second = Descriptor(
            type: RegistryDocument.ociManifest, digest: try #require(RegistryDigest(Self.digest("02"))), size: 2)
        let one = try #require(ImageLayout.index(nil, adding: first, tag: "a"))
        let two = try #require(ImageLayout.index(one, adding: first, tag: "b"))
        let three = try #require(ImageLayout.index(two, adding: second, tag: "a"))
        let rows = try #require(try JSON.parse(three)["manifests"]?.array)
        func tag(_ row: JSON) -> String? { row["annotations"]?["org.opencontainers.image.ref.name"]?.string }
        #expect(rows.map(tag) == ["b", "a"])
        #expect(rows.map { $0["digest"]?.string } == [Self.digest("01"), Self.digest("02")])
        #expect(try JSON.parse(three)["schemaVersion"]?.integer == 2)
        let untagged = try #require(ImageLayout.index(three, adding: second, tag: nil))
        #expect(ImageLayout.index(untagged, adding: second, tag: nil) == untagged)
        let foreign = Array(#"{"schemaVersion":2,"x":1,"manifests":[{"digest":"d","y":2}]}"#.utf8)
        let kept = try #require(
            ImageLayout.index(foreign, adding: first, tag: "a").map { String(decoding: $0, as: UTF8.self) })
        #expect(kept.contains(#""x":1"#) && kept.contains(#""y":2"#))
        for text in ["", "[]", "{}", "x"] {
            #expect(ImageLayout.index(Array(text.utf8), adding: first, tag: nil) == nil)
        }
    }

    @Test func `a refusal says what the user can do`() {
        func refusal(_ status: Int, _ code: String = "", login: Bool = false, helpers: Bool = false) -> RegistryRefusal
        {
            RegistryRefusal(status: status, code: code, hasLogin: login, hasHelpers: helpers, registry: "r.example")
        }
        #expect(refusal(404, "MANIFEST_UNKNOWN").disposition.code == .notFound)
        #expect(refusal(401, "UNAUTHORIZED").disposition.code == .authorization)
        #expect(refusal(429, "TOOMANYREQUESTS").disposition.isRetried)
        #expect(refusal(401, helpers: true).remedy.text.contains("credential helper"))
        #expect(RegistryRefusal.code(in: Array(#"{"errors":[{"code":"DENIED","message":"x"}]}"#.utf8)) == "DENIED")
        #expect(RegistryRefusal.code(in: Array(#"{"errors":[{"code":"a\nb"}]}"#.utf8)) == "")
    }
}
