package import PawlCore
package import PawlEngine

extension Downloader {
    /// Adds a download that goes on where an `NSURLSession` stopped; nothing runs before ``Download/resume()``.
    ///
    /// The partial is looked up by its name in `partialFolder`. One that is missing or shorter than the data says is
    /// replaced by `safeCopy`, the path of an earlier copy, where there is one; without either the download starts
    /// afresh. Its bytes are copied, and the partial stays until the caller removes it. They are continued only as far
    /// as the server's answer fits what the data remembers of the content.
    ///
    /// The headers of the first request are sent, except those that `options` names itself and those that belong to one
    /// connection or one range.
    public func add(
        _ data: ResumeData,
        partialFolder: String,
        safeCopy: String? = nil,
        options: DownloadOptions = DownloadOptions()
    ) throws(PawlError) -> Download {
        var options = options
        options.headers += data.headers(beside: options.headers)
        do throws(Failure) {
            try data.takeOver(partialFolder: partialFolder, safeCopy: safeCopy, options: options, disk: disk)
        } catch {
            throw PawlError(error)
        }
        return try add(data.url, options: options)
    }
}

extension ResumeData {
    /// Makes what an app received the part file of a download that is to be added with these options.
    package func takeOver(
        partialFolder: String,
        safeCopy: String?,
        options: DownloadOptions,
        disk: any Disk
    ) throws(Failure) {
        var content = content
        let partial = content.partialName.map { (folder: partialFolder, name: $0) }
        let copy = safeCopy.map { Self.parts(of: $0) }
        let supply = content.supply(
            partialLength: partial.flatMap { disk.length(of: $0.name, in: $0.folder) },
            safeCopyLength: copy.flatMap { disk.length(of: $0.name, in: $0.folder) }
        )
        let found =
            switch supply {
            case .partial: partial
            case .safeCopy: copy
            case .nothing: (folder: String, name: String)?.none
            }
        guard let found, content.received > 0 else { return }
        let address = try WebAddress.parse(content.address).address
        let naming = NamingPolicy(rawValue: options.naming.rawValue) ?? .server
        let facts = JournalFacts(
            sources: [address.text],
            representation: content.representation(of: address),
            name: options.fileName ?? NamingPolicy.choose(naming, address: address, head: nil)
        )
        try disk.adopt(
            found.name,
            in: found.folder,
            length: content.received,
            as: facts,
            // The server's name comes with its first answer.
            isNamed: options.fileName != nil || naming != .server,
            to: options.folder
        )
    }

    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }

    private static let ownHeaders: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "host",
        "connection", "content-length", "transfer-encoding", "accept-encoding", "proxy-authorization",
    ]

    /// The fields to send, besides those that are given.
    package func headers(beside given: [String]) -> [String] {
        let taken = Self.ownHeaders.union(given.map { String($0.prefix { $0 != ":" }).lowercased() })
        let request = originalRequest ?? currentRequest
        return (request?.headers ?? [:]).sorted { $0.key < $1.key }
            .filter { !taken.contains($0.key.lowercased()) }
            .map { "\($0.key): \($0.value)" }
    }
}
