import Pawl
import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// Digests that an origin states of its content, against real servers.
@Suite struct VerificationTests {
    private let payload = Payload(seed: 1801, length: 300_000)

    /// An origin's response, and what a download of it must come to.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// `R` stands for the right MD5 in base64, `W` for a wrong one; `r` and `w` for them in hexadecimal digits.
        var fields: [String] = []
        /// Sums files by their paths, with `r` and `w` likewise.
        var sums: [String: String] = [:]
        var policy = DownloadOptions.VerificationPolicy.auto
        /// The level, `none`, or the code of the failure.
        var outcome: String
    }

    private static let cases = [
        Case(testDescription: "right", fields: ["Content-MD5: R"], outcome: "origin"),
        Case(testDescription: "wrong", fields: ["Content-MD5: W"], outcome: "32"),
        Case(testDescription: "contradiction", fields: ["Content-MD5: R", "x-ms-blob-content-md5: W"], outcome: "32"),
        Case(testDescription: "composite", fields: ["x-amz-checksum-sha256: W-4"], outcome: "none"),
        Case(testDescription: "padding", fields: ["Content-MD5: W="], outcome: "none"),
        Case(testDescription: "algorithm", fields: ["Repr-Digest: blake3=:W:"], outcome: "none"),
        Case(testDescription: "off", fields: ["Content-MD5: W"], policy: .off, outcome: "none"),
        Case(testDescription: "sidecar unrequested", sums: ["/d/f.md5": "w"], outcome: "none"),
        Case(testDescription: "own sums", sums: ["/d/f.md5": "r\n"], policy: .sidecar, outcome: "sidecar"),
        Case(testDescription: "wrong sums", sums: ["/d/MD5SUMS": "w  f\n"], policy: .sidecar, outcome: "32"),
        Case(testDescription: "sums", sums: ["/d/MD5SUMS": "w  g\nr *./f\r\n"], policy: .required, outcome: "sidecar"),
        Case(
            testDescription: "other file", sums: ["/d/MD5SUMS": "w  ../f\nw  /f\nw  F\n"], policy: .sidecar,
            outcome: "none"),
        Case(testDescription: "page", sums: ["/d/f.md5": "<html>w  f"], policy: .sidecar, outcome: "none"),
        Case(testDescription: "required", policy: .required, outcome: "32"),
    ]

    @Test(arguments: cases) func `a digest decides whether the file is published`(next: Case) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let right = MessageDigest5.digest(payload.bytes)
        let wrong = right.map { ~$0 }
        func filled(_ text: String) -> String {
            let isRight = text.contains("R")
            return text.replacing(isRight ? "R" : "W", with: Base64.encode(isRight ? right : wrong))
        }
        func sums(_ text: String) -> String {
            text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                guard let place = line.lastIndex(where: { $0 == "r" || $0 == "w" }),
                    line[..<place].allSatisfy({ !$0.isLetter }) || line.contains("<html>")
                else { return String(line) }
                return line[..<place] + Hexadecimal.text(line[place] == "r" ? right : wrong)
                    + line[line.index(after: place)...]
            }.joined(separator: "\n")
        }
        let url = origin.serve("/d/f", payload) { behaviour in
            for field in next.fields {
                let halves = field.split(separator: ": ", maxSplits: 1)
                behaviour.add(header: "\(halves[0]): \(filled(String(halves[1])))")
            }
        }
        for (path, text) in next.sums { _ = origin.serve(path, Payload(Array(sums(text).utf8))) }
        var options = DownloadOptions()
        options.folder = folder.path
        options.retries = 0
        options.verification = next.policy
        let downloader = Downloader()
        let outcome: String
        do {
            let file = try await downloader.download(url, options: options)
            outcome = file.verification?.level.rawValue ?? "none"
            #expect(folder.difference("f", from: payload) == nil)
        } catch let error as PawlError {
            outcome = "\(error.code.rawValue)"
            #expect(!folder.names.contains("f"), "a wrong file has its name")
            // Fields that contradict each other fail before the first byte.
            let isFetched = next.testDescription != "contradiction"
            #expect(folder.names == (isFetched ? ["f.part", "f.pawl"] : []))
        }
        #expect(outcome == next.outcome)
        let asks = origin.log.of("/d/f.sha256").count + origin.log.of("/d/SHA256SUMS").count
        #expect((asks > 0) == ![.auto, .off].contains(next.policy))
        await downloader.shutDown()
    }

    @Test(arguments: [("R", false), ("W", false), ("R", true), ("W", true)])
    func `content in memory and streams are verified`(word: String, isStream: Bool) async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let right = MessageDigest5.digest(payload.bytes)
        let digest = word == "R" ? right : right.map { ~$0 }
        let url = origin.serve("/f", payload) { $0.add(header: "Content-MD5: \(Base64.encode(digest))") }
        let plain = origin.serve("/g", payload)
        let downloader = Downloader()
        var given = DownloadOptions()
        given.checksum = "md5=\(Hexadecimal.text(digest))"
        for (url, options) in [(url, DownloadOptions()), (plain, given)] {
            var bytes: [UInt8] = []
            var code: PawlError.Code?
            do {
                if isStream {
                    for try await chunk in try downloader.body(of: url, options: options) { bytes += chunk }
                } else {
                    bytes = try await downloader.data(from: url, options: options)
                }
            } catch let error as PawlError { code = error.code }
            #expect(code == (word == "R" ? nil : .checksumMismatch))
            // A stream has delivered its bytes before that is known.
            #expect((bytes == payload.bytes) == (isStream || word == "R"))
        }
        await downloader.shutDown()
    }

    @Test(arguments: ["/missing", "http://127.0.0.1:1/f"])
    func `a wrong digest stays the failure when the other source fails too`(mirror: String) async throws {
        let origin = try OriginServer()
        let folder = try TemporaryFolder()
        defer { origin.stop() }
        let url = origin.serve("/f", payload)
        var options = DownloadOptions()
        options.folder = folder.path
        options.retries = 0
        options.mirrors = [mirror.hasPrefix("/") ? origin.url(mirror) : mirror]
        options.checksum = "md5=00112233445566778899aabbccddeeff"
        let downloader = Downloader()
        let error = await #expect(throws: PawlError.self) { try await downloader.download(url, options: options) }
        let text = error?.description ?? ""
        #expect(error?.code == .checksumMismatch, "\(text)")
        #expect(text.contains("expected md5 0011") && text.contains("another source failed: "), "\(text)")
        #expect(text.contains(options.mirrors[0]), "\(text)")
        await downloader.shutDown()
    }

    @Test func `signed without a key is refused before anything is fetched`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let url = origin.serve("/f", payload)
        var options = DownloadOptions()
        options.verification = .signed
        let downloader = Downloader()
        let error = #expect(throws: PawlError.self) { try downloader.add(url, options: options) }
        #expect(error?.code == .badOption)
        #expect(origin.log.of("/f").isEmpty)
        await downloader.shutDown()
    }

    @Test func `requests ask for a digest, unless that is off`() async throws {
        let origin = try OriginServer()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let downloader = Downloader()
        for (name, policy) in [("a", DownloadOptions.VerificationPolicy.auto), ("b", .off)] {
            var options = DownloadOptions()
            options.folder = folder.path
            options.verification = policy
            _ = try await downloader.download(origin.serve("/\(name)", payload), options: options)
            let wanted = origin.log.of("/\(name)").first?.request.header("Want-Repr-Digest")
            #expect(wanted == (policy == .auto ? "sha-256=9" : nil))
        }
        await downloader.shutDown()
    }
}
