import Pawl
import PawlCore

/// The sums files beside content on its host.
final class OriginSums {
    private let address: WebAddress
    private let downloader = Downloader()
    /// Each is requested once; `nil` for what is none.
    private var folder: [String: SumsFile?] = [:]

    /// Appended to the content's own URL.
    private static let own = [".sha256", ".sha256sum", ".sha512", ".sha512sum", ".md5"]
    /// In its folder.
    private static let common = [
        "SHA256SUMS", "SHA256SUMS.txt", "sha256sum.txt", "SHA512SUMS", "CHECKSUM", "MD5SUMS",
    ]

    /// The URL of the content, or of its folder if the path ends with a slash.
    init(_ address: WebAddress) {
        var plain = address
        plain.query = nil
        self.address = plain
    }

    /// Stops the transfers.
    func end() { downloader.shutDown() }

    /// The digests that the first sums file that names the file has, with the sums file's URL.
    func checksums(ofFileAt path: String) throws(Failure) -> [(Checksum, String)] {
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        var file = address
        if address.path.hasSuffix("/") { file.path += Self.encoded(name) }
        let stated = file.path.split(separator: "/").last.map { PercentCoding.decoded($0.utf8) } ?? []
        for ending in Self.own {
            var sidecar = file
            sidecar.path += ending
            let found = try sums(at: sidecar)?.checksums(of: stated, isOwn: true) ?? []
            if !found.isEmpty { return found.map { ($0, sidecar.redacted) } }
        }
        for other in Self.common {
            var sidecar = file
            let slash = sidecar.path.lastIndex(of: "/") ?? sidecar.path.startIndex
            sidecar.path = sidecar.path[..<slash] + "/" + other
            let sums: SumsFile?
            if let known = folder[sidecar.path] { sums = known } else { sums = try self.sums(at: sidecar) }
            folder[sidecar.path] = .some(sums)
            let found = sums?.checksums(of: stated, isOwn: false) ?? []
            if !found.isEmpty { return found.map { ($0, sidecar.redacted) } }
        }
        return []
    }

    /// `nil` where the server has none; what fails otherwise is a failure.
    private func sums(at address: WebAddress) throws(Failure) -> SumsFile? {
        do throws(PawlError) {
            let bytes = try downloader.content(
                of: address.text,
                maximumSize: SumsFile.longest,
                options: DownloadOptions()
            )
            return SumsFile(bytes)
        } catch {
            switch error.code {
            case .notFound, .authorization, .tooLarge, .badResponse: return nil
            default: throw error.failure
            }
        }
    }

    private static func encoded(_ name: String) -> String {
        let bytes = PercentCoding.encoded(name.utf8) {
            PercentCoding.isPathCharacter($0) && $0 != UInt8(ascii: "%")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
