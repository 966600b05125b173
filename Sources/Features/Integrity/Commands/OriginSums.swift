import Pawl
import PawlBase
import PawlIntegrity
import PawlJournal

/// What an origin says of content: fields of its response, and sums files beside it.
final class OriginSums {
    private let address: WebAddress
    private let downloader = Downloader()
    /// Each is requested once; `nil` for what is none.
    private var folder: [String: SumsFile?] = [:]

    /// The URL of the content, or of its folder if the path ends with a slash.
    init(_ address: WebAddress) { self.address = address }

    /// Stops the transfers.
    func end() { downloader.shutDownAndWait() }

    /// What the fields of the content's response state, and else the sums files beside it.
    func digests(ofFileAt path: [UInt8]) throws(Failure) -> [VerifyPlan.Expectation] {
        let file = content(of: path)
        do throws(PawlError) {
            let stated = try downloader.statedDigests(of: file.text, options: DownloadOptions())
            if !stated.isEmpty { return stated.map { .init(checksum: $0.checksum, source: $0.source) } }
        } catch { throw error.failure }
        return try checksums(ofFileAt: path)
    }

    private func content(of path: [UInt8]) -> WebAddress {
        var file = address
        if address.path.hasSuffix("/") {
            file.query = nil
            file.path += Self.encoded(path.split(separator: UInt8(ascii: "/")).last ?? path[...])
        }
        return file
    }

    /// The digests that sums files beside the content state of the file, each with the sums file's URL.
    private func checksums(ofFileAt path: [UInt8]) throws(Failure) -> [VerifyPlan.Expectation] {
        var file = content(of: path)
        file.query = nil
        let stated = file.path.pathParts().last.map { PercentCoding.decoded($0.utf8) } ?? []
        var all: [VerifyPlan.Expectation] = []
        for ending in SidecarNames.own {
            var sidecar = file
            sidecar.path += ending
            guard let sums = try sums(at: sidecar) else { continue }
            all += sums.expectations(sums.checksums(of: stated, isOwn: true), sidecar.redacted)
        }
        for other in SidecarNames.common {
            var sidecar = file
            let slash = sidecar.path.lastIndex(of: "/") ?? sidecar.path.startIndex
            sidecar.path = sidecar.path[..<slash] + "/" + other
            let sums: SumsFile?
            if let known = folder[sidecar.path] { sums = known } else { sums = try self.sums(at: sidecar) }
            folder[sidecar.path] = .some(sums)
            let found = sums?.checksums(of: stated, isOwn: false) ?? []
            all += sums?.expectations(found, sidecar.redacted) ?? []
        }
        return all
    }

    /// `nil` where the server has none; what fails otherwise is a failure.
    private func sums(at address: WebAddress) throws(Failure) -> SumsFile? {
        do throws(PawlError) {
            let bytes = try downloader.content(
                of: address.text, maximumSize: SumsFile.longest, options: DownloadOptions())
            return SumsFile(bytes, named: SidecarNames.name(of: address) ?? [])
        } catch {
            switch error.code {
            case .notFound, .authorization, .tooLarge, .badResponse: return nil
            default: throw error.failure
            }
        }
    }

    private static func encoded(_ name: ArraySlice<UInt8>) -> String {
        let bytes = PercentCoding.encoded(name) { PercentCoding.isPathCharacter($0) && $0 != UInt8(ascii: "%") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
