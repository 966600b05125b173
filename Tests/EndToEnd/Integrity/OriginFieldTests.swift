import PawlTestKit
import Testing

/// Digests in fields of responses, by honest and hostile origins: no wrong file is published, no right one refused.
@Suite(.ownThreads) struct OriginFieldTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let outcome: String
        let arguments: [String]
        let set: @Sendable (OriginStage) -> Void

        init(_ name: String, _ outcome: String, _ arguments: String..., set: @escaping @Sendable (OriginStage) -> Void)
        {
            testDescription = name
            self.outcome = outcome
            self.arguments = arguments
            self.set = set
        }

        init(_ name: String, _ outcome: String, _ arguments: [String], set: @escaping @Sendable (OriginStage) -> Void) {
            testDescription = name
            self.outcome = outcome
            self.arguments = arguments
            self.set = set
        }
    }

    private static let plain: [Case] = [
        Case("Repr-Digest", "origin") { $0.serve("Repr-Digest: sha-256=:\($0.right.sha):") },
        Case("Repr-Digest, wrong", "32") { $0.serve("Repr-Digest: sha-256=:\($0.wrong.sha):") },
        Case("Repr-Digest, SHA-512", "origin") { $0.serve("repr-digest: sha-512=:\($0.right.sha5):") },
        Case("Content-Digest", "origin") { $0.serve("Content-Digest: sha-256=:\($0.right.sha):") },
        Case("Content-Digest, wrong", "32") { $0.serve("Content-Digest: sha-256=:\($0.wrong.sha):") },
        Case("Digest", "origin") { $0.serve("Digest: SHA-256=\($0.right.sha),unixsum=12") },
        Case("Digest, wrong", "32") { $0.serve("Digest: sha-256=\($0.wrong.sha)") },
        Case("Content-MD5", "origin") { $0.serve("Content-MD5: \($0.right.md)") },
        Case("Content-MD5, wrong", "32") { $0.serve("Content-MD5: \($0.wrong.md)") },
        Case("x-goog-hash", "origin") { $0.serve("x-goog-hash: md5=\($0.right.md)") },
        Case("x-goog-hash, wrong", "32") { $0.serve("x-goog-hash: crc32c=AAAAAA==,md5=\($0.right.md)") },
        Case("x-amz-checksum-sha256", "origin") { $0.serve("x-amz-checksum-sha256: \($0.right.sha)") },
        Case("x-amz-checksum-sha256, wrong", "32") { $0.serve("x-amz-checksum-sha256: \($0.wrong.sha)") },
        Case("composite by its ending", "none") { $0.serve("x-amz-checksum-sha256: \($0.wrong.sha)-7") },
        Case("composite by its type", "none") {
            $0.serve("x-amz-checksum-sha256: \($0.wrong.sha)", "x-amz-checksum-type: COMPOSITE")
        },
        Case("composite, the type first", "none") {
            $0.serve("x-amz-checksum-type: COMPOSITE", "x-amz-checksum-crc32c: AAAAAA==")
        },
        Case("a full object's CRC", "32") {
            $0.serve("x-amz-checksum-crc64nvme: AAAAAAAAAAA=", "x-amz-checksum-type: FULL_OBJECT")
        }, Case("x-ms-blob-content-md5, wrong", "32") { $0.serve("x-ms-blob-content-md5: \($0.wrong.md)") },
        Case("X-Checksum-Sha256", "origin") { $0.serve("X-Checksum-Sha256: \($0.right.hex)") },
        Case("X-Checksum-Sha256, wrong", "32") { $0.serve("X-Checksum-Sha256: \($0.wrong.hex)") },
        Case("X-Linked-ETag", "origin") { $0.serve("X-Linked-ETag: \"\($0.right.hex)\"") },
        Case("X-Linked-ETag, no digest", "none") { $0.serve("X-Linked-ETag: \"abcdef\"") },
        Case("padding missing", "none") { $0.serve("Repr-Digest: sha-256=:\($0.wrong.sha.dropLast()):") },
        Case("padding doubled", "none") { $0.serve("Repr-Digest: sha-256=:\($0.wrong.sha)=:") },
        Case("no byte sequence", "none") { $0.serve("Repr-Digest: sha-256=\"\($0.wrong.sha)\"") },
        Case("another length", "none") { $0.serve("Repr-Digest: sha-256=:\($0.wrong.md):") },
        Case("unknown algorithm", "none") { $0.serve("Repr-Digest: blake3=:\($0.wrong.sha):") },
        Case("unknown beside known", "origin") {
            $0.serve("Repr-Digest: blake3=:\($0.wrong.sha):, sha-256=:\($0.right.sha):;q=1")
        },
        Case("required, unreadable", "32", "--verify", "required") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha.dropLast()):")
        }, Case("off", "none", "--verify", "off") { $0.serve("Repr-Digest: sha-256=:\($0.wrong.sha):") },
        Case("signed needs more", "28", "--verify", "signed") { $0.serve("Repr-Digest: sha-256=:\($0.right.sha):") },
        Case("required, weak", "origin", "--verify", "required") { $0.serve("Content-MD5: \($0.right.md)") },
    ]

    private static let disputed: [Case] = [
        Case("one key twice", "32") { $0.serve("Repr-Digest: sha-256=:\($0.right.sha):, sha-256=:\($0.wrong.sha):") },
        Case("one field twice, wrong last", "32") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):", "Repr-Digest: sha-256=:\($0.wrong.sha):")
        },
        Case("one field twice, the same", "origin") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):", "Repr-Digest: sha-256=:\($0.right.sha):")
        },
        Case("two fields", "32") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):", "Digest: sha-256=\($0.wrong.sha)")
        },
        Case("two algorithms", "32") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):", "Content-MD5: \($0.wrong.md)")
        },
        Case("a field and a sums file", "32", "--verify", "sidecar") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):")
            $0.put("/d/f.iso.sha256", "\($0.wrong.hex)  f.iso\n")
        },
    ]

    private static let coded: [Case] = [
        Case("digest of the coded form, gzip", "origin") {
            $0.serve("Content-Digest: sha-256=:\($0.coded.sha):") { $0.coding = .gzip }
        },
        Case("digest of the plain form, gzip", "origin") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):") { $0.coding = .gzip }
        },
        Case("each form by its field, gzip", "origin") {
            $0.serve("Content-Digest: sha-256=:\($0.coded.sha):", "Repr-Digest: sha-256=:\($0.right.sha):") {
                $0.coding = .gzip
            }
        },
        Case("digest of neither, gzip", "32") {
            $0.serve("Content-Digest: sha-256=:\($0.coded.sha):", "Repr-Digest: sha-256=:\($0.wrong.sha):") {
                $0.coding = .gzip
            }
        },
        Case("Content-Digest wrong, gzip", "32") {
            $0.serve("Content-Digest: sha-256=:\($0.wrong.sha):", "Repr-Digest: sha-256=:\($0.right.sha):") {
                $0.coding = .gzip
            }
        },
        Case("one field twice, gzip", "32") {
            $0.serve("Repr-Digest: sha-256=:\($0.right.sha):, sha-256=:\($0.wrong.sha):") { $0.coding = .gzip }
        },
        Case("stored as gzip, sent decoded", "none") {
            $0.serve("x-goog-hash: md5=\($0.coded.md)", "x-goog-stored-content-encoding: gzip")
        },
        Case("stored as gzip, sent decoded, by its length", "none") {
            $0.serve("x-goog-hash: md5=\($0.coded.md)", "x-goog-stored-content-length: 777")
        },
        Case("sent as it is stored, gzip", "origin") {
            $0.serve("x-goog-hash: md5=\($0.coded.md)", "x-goog-stored-content-encoding: gzip") { $0.coding = .gzip }
        },
    ]

    private static let travelling: [Case] = [
        Case("a redirect's fields", "none") { stage in stage.redirect("Repr-Digest: sha-256=:\(stage.wrong.sha):") },
        Case("a redirect's X-Linked-ETag", "origin") { stage in stage.redirect("X-Linked-ETag: \"\(stage.right.hex)\"")
        },
        Case("a redirect's X-Linked-ETag, wrong", "32") { stage in
            stage.redirect("X-Linked-ETag: \"\(stage.wrong.hex)\"")
        },
        Case("an error page's fields", "origin", "--retries", "2") { stage in
            stage.serve("Repr-Digest: sha-256=:\(stage.right.sha):")
            stage.bench.origin.vary("/d/f.iso") { facts, behaviour in
                guard facts.ordinal == 0 else { return }
                behaviour.instead = Behaviour.SubstituteResponse(
                    503, lines: ["Repr-Digest: sha-256=:\(stage.wrong.sha):"], body: "busy")
            }
        },
        Case("Content-Digest of each part", "origin") { stage in
            stage.serve()
            stage.bench.origin.vary("/d/f.iso") { facts, behaviour in
                let digest = facts.hasRange ? stage.wrong : stage.right
                behaviour.add(header: "Content-Digest: sha-256=:\(digest.sha):")
                if !facts.hasRange { behaviour.cut = .close(after: 200_000) }
            }
        },
    ]

    @Test(arguments: plain + disputed + coded + travelling, [["-x", "1"], ["-x", "4"]])
    func `fields decide as they must`(next: Case, connections: [String]) throws {
        // Parts of a download have at least one MiB each.
        let stage = try OriginStage(length: connections == ["-x", "1"] ? 300_000 : 3_000_000)
        next.set(stage)
        let isCoded = next.testDescription.hasSuffix("gzip")
        #expect(try stage.get(next.arguments + connections, isCoded: isCoded) == next.outcome)
    }
}
