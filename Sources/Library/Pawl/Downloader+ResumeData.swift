#if Features
package import PawlBase
package import PawlJournal
import PawlResumeData

extension Downloader {
    /// Adds a download that resumes from data of `NSURLSession`; nothing runs before ``Download/resume()``.
    ///
    /// The partial file is looked up by its name in `partialFolder`. If it is missing or shorter than the
    /// data states, `safeCopy`, the path of an earlier copy, replaces it if given; without either the
    /// download starts over. The bytes are copied before this returns, and the caller removes the partial file. They are
    /// continued only if the server's response matches the validators in the data.
    ///
    /// The headers of the first request are sent, except those that `options` contains and those that apply
    /// to one connection or one range.
    public func add(
        _ data: DownloadResumeData, partialFolder: String, safeCopy: String? = nil,
        options: DownloadOptions? = nil
    ) throws(PawlError) -> Download {
        var options = options ?? self.options
        options.headers += data.headers(beside: options.headers)
        do throws(Failure) {
            _ = try data.takeOver(
                partialFolder: partialFolder, safeCopy: safeCopy, isGiven: false, options: options, disk: disk)
        } catch { throw PawlError(error) }
        return try add(data.url, options: options)
    }
}

extension DownloadResumeData {
    /// Imports bytes that an app received as the part file of a download to be added with these options.
    ///
    /// `isGiven`: the partial file itself may become the part file.
    package func takeOver(
        partialFolder: String, safeCopy: String?, isGiven: Bool, options: DownloadOptions, disk: any Disk
    ) throws(Failure) -> AdoptedPart? {
        var content = content
        let partial = content.partialName.map { (folder: partialFolder, name: $0) }
        let copy = safeCopy.map { Self.parts(of: $0) }
        let supply = content.supply(
            partialLength: partial.flatMap { disk.length(of: $0.name, in: $0.folder) },
            safeCopyLength: copy.flatMap { disk.length(of: $0.name, in: $0.folder) })
        let found =
            switch supply {
            case .partial: partial
            case .safeCopy: copy
            case .nothing: (folder: String, name: String)?.none
            }
        guard let found, content.received > 0 else { return nil }
        let address = try WebAddress.parse(content.address).address
        let naming = NamingPolicy(options.naming)
        let facts = JournalFacts(
            sources: [address.text], representation: content.representation(of: address),
            name: options.fileName ?? NamingPolicy.choose(naming, address: address, head: nil, given: [address]))
        return try disk.adopt(
            found.name, in: found.folder, length: content.received, as: facts,
            // The server's name comes with its first response.
            isNamed: options.fileName != nil || naming != .server, isGiven: isGiven, to: options.folder)
    }

    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.unicodeScalars.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.unicodeScalars.index(after: slash)...]))
    }

    private static let ownHeaders: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "host",
        "connection", "content-length", "transfer-encoding", "accept-encoding", "proxy-authorization",
    ]

    /// The fields to send in addition to `given`.
    package func headers(beside given: [String]) -> [String] {
        let taken = Self.ownHeaders.union(given.map { String($0.prefix { $0 != ":" }).lowercased() })
        let request = originalRequest ?? currentRequest
        return (request?.headers ?? [:]).sorted { $0.key < $1.key }.filter { !taken.contains($0.key.lowercased()) }.map
        { "\($0.key): \($0.value)" }
    }
}
#endif
