import PawlBase
import Testing

@testable import PawlRegistry

@Suite struct RegistryReferenceTests {
    private static let hex = String(repeating: "0b", count: 32)

    @Test(arguments: [
        ("oci://ghcr.io/org/name:1.0", "ghcr.io", "org/name", "1.0"),
        ("oci://localhost:5000/a", "localhost:5000", "a", nil),
        ("OCI://Host.Example/a__b/c-d.e:T_1", "host.example", "a__b/c-d.e", "T_1"),
        ("docker://alpine", "registry-1.docker.io", "library/alpine", nil),
        ("docker://alpine:3.20", "registry-1.docker.io", "library/alpine", "3.20"),
        ("docker://org/name:t", "registry-1.docker.io", "org/name", "t"),
        ("docker://docker.io/alpine", "registry-1.docker.io", "library/alpine", nil),
        ("docker://quay.io/org/name", "quay.io", "org/name", nil),
        ("docker://localhost:5000/x:y", "localhost:5000", "x", "y"),
        ("ollama://llama3", "registry.ollama.ai", "library/llama3", nil),
        ("ollama://ns/model:7b", "registry.ollama.ai", "ns/model", "7b"),
        ("ollama://reg.example/ns/model", "reg.example", "ns/model", nil),
    ])
    func `an address names a registry, a repository and a tag`(
        _ text: String, _ registry: String, _ name: String, _ tag: String?
    ) throws {
        let reference = try RegistryReference(text)
        #expect(
            reference.registry == registry && reference.name == name && reference.tag == tag && reference.digest == nil)
        let pinned = try RegistryReference(text + "@sha256:\(Self.hex)")
        #expect(pinned.digest?.hex == Self.hex && pinned.tag == tag && pinned.identifier == "sha256:\(Self.hex)")
        // The kernel's grammar of located addresses keeps that of a blob.
        let blob = try WebAddress.parse(pinned.blob(#require(pinned.digest))).address
        let again = try RegistryReference(blob.text)
        #expect(again.registry == registry && again.name == name && again.digest == pinned.digest)
    }

    @Test(arguments: [
        "oci://", "oci://host", "oci://host/", "oci:///name", "oci://host/Name", "oci://host/a//b", "oci://host/../b",
        "oci://host/a..b",
        "oci://host/-a", "oci://host/a:", "oci://host/a:b/c:d!", "oci://user@host/a", "oci://host/a@sha256:zz",
        "oci://host/a@md5:00",
        "oci://host/a@sha256:\(String(repeating: "0B", count: 32))", "oci://ho st/a", "oci://host:99999/a",
        "oci://host/a?b", "docker://",
        "oci://host/a:\(String(repeating: "t", count: 129))", "https://host/a",
    ])
    func `what names no manifest is refused with code 28`(_ text: String) {
        #expect { try RegistryReference(text) } throws: { ($0 as? Failure)?.code == .badOption }
    }

    @Test func `a blob is requested from its registry, without TLS only on this machine or where that was given`()
        throws
    {
        let digest = try #require(RegistryDigest("sha256:\(Self.hex)"))
        func location(_ registry: String, _ access: RegistryAccess = RegistryAccess()) throws -> String {
            let reference = try RegistryReference("oci://\(registry)/a/b")
            return access.location(of: try WebAddress.parse(reference.blob(digest)).address).text
        }
        #expect(try location("ghcr.io") == "https://ghcr.io/v2/a/b/blobs/sha256:\(Self.hex)")
        #expect(try location("ghcr.io:8443").hasPrefix("https://ghcr.io:8443/v2/"))
        #expect(try location("localhost:5000").hasPrefix("http://localhost:5000/v2/"))
        #expect(try location("127.0.0.1:5000").hasPrefix("http://127.0.0.1:5000/"))
        #expect(try location("127.0.0.1.evil.example").hasPrefix("https://"))
        #expect(try location("10.0.0.1:5000").hasPrefix("https://"))
        let mirror = RegistryAccess(endpoint: try WebAddress.parse("http://mirror:80/x/").address)
        #expect(try location("ghcr.io", mirror).hasPrefix("http://mirror/x/v2/a/b/"))
        let tagged = try WebAddress.parse("oci://ghcr.io/a/b:t").address
        #expect(mirror.hasChosenHost && !RegistryAccess().hasChosenHost)
        #expect(RegistryAccess().location(of: tagged).text == "https://ghcr.io/v2/a/b/manifests/t")
    }
}
