/// An error: what failed, where, why, and what to do about it.
///
/// `description` is the sentence for users where a surface has no text of its own. No part of it may hold a
/// secret: addresses go through `WebAddress.redacted` first.
package struct Failure: Error, Hashable, Sendable {
    package var code: Code
    /// What failed: "cannot write", "the server refused".
    package var what: String
    /// The redacted URL or the file path it happened on.
    package var place: String
    /// The cause, if known.
    package var why: String { didSet { if why != oldValue { cause = nil } } }
    /// ``why`` as a message, for translation, if it is one.
    package private(set) var cause: LocalizableMessage?
    /// The option that was refused, whose value follows its title in ``place``.
    package var refused: OptionID?
    /// What the user can do; empty when there is nothing.
    package var remedy: Remedy
    /// The status code of the response, if that is the failure.
    package var status: Int?
    /// The wait that the server requested with that status.
    package var retryAfter: Interval?
    /// The fault of the connection, if that is the cause.
    package var fault: TransferFault.Kind?
    /// What was not there, and may be later.
    package var awaited: AwaitedResource?
    /// The error of the program's own code, if that is the cause.
    package var underlying: UnderlyingError?
    /// The URL whose request failed, with its secrets; no text shows it, and it is not stored.
    package var url: String?

    package init(_ code: Code, _ what: String, at place: String, because why: String, remedy: Remedy = "") {
        self.code = code
        self.what = what
        self.place = place
        self.why = why
        self.remedy = remedy
    }

    package init(_ code: Code, _ what: String, at place: String, because cause: LocalizableMessage, remedy: Remedy = "")
    {
        self.init(code, what, at: place, because: cause.description, remedy: remedy)
        self.cause = cause
    }

    /// An option has an invalid value; a secret one is left out.
    package init(refusing id: OptionID, _ value: String? = nil, because why: String) {
        self.init(refusing: id, value, because: LocalizableMessage(untranslated: why))
        cause = nil
    }

    package init(refusing id: OptionID, _ value: String? = nil, because cause: LocalizableMessage) {
        self.init(
            .badOption, "cannot use", at: id.title + (value.map { $0.isEmpty ? " ''" : " \($0)" } ?? ""), because: cause
        )
        refused = id
    }
}

extension Failure {
    /// Exit codes up to 32 are those that scripts and RPC clients know from other programs; from 33 Pawl's own.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let unknown = Code(rawValue: 1)
        package static let timeout = Code(rawValue: 2)
        package static let notFound = Code(rawValue: 3)
        package static let tooSlow = Code(rawValue: 5)
        package static let network = Code(rawValue: 6)
        package static let unfinished = Code(rawValue: 7)
        package static let cannotResume = Code(rawValue: 8)
        package static let diskFull = Code(rawValue: 9)
        package static let alreadyDownloading = Code(rawValue: 11)
        package static let fileExists = Code(rawValue: 13)
        package static let renameFailed = Code(rawValue: 14)
        package static let cannotOpen = Code(rawValue: 15)
        package static let cannotCreate = Code(rawValue: 16)
        package static let inputOutput = Code(rawValue: 17)
        package static let cannotMakeFolder = Code(rawValue: 18)
        package static let nameResolution = Code(rawValue: 19)
        package static let badResponse = Code(rawValue: 22)
        package static let tooManyRedirects = Code(rawValue: 23)
        package static let authorization = Code(rawValue: 24)
        package static let badOption = Code(rawValue: 28)
        package static let overloaded = Code(rawValue: 29)
        package static let checksumMismatch = Code(rawValue: 32)
        /// The server's certificate or the TLS handshake was not acceptable.
        package static let insecure = Code(rawValue: 33)
        /// The journal or the queue was written by a newer version of Pawl.
        package static let newerJournal = Code(rawValue: 34)
        /// The content is larger than the caller accepts.
        package static let tooLarge = Code(rawValue: 35)
        /// The program itself refused the request, the redirect or the response.
        package static let rejected = Code(rawValue: 36)

        /// Whether a file system of this machine is the cause, so that the same may succeed on another one.
        package var isOfStorage: Bool {
            [.diskFull, .cannotOpen, .cannotCreate, .inputOutput, .renameFailed, .cannotMakeFolder].contains(self)
        }
    }
}

/// What an operation lacks that can be waited for.
package enum AwaitedResource: Hashable, Sendable {
    /// Bytes on the file system; `needed` if so many are lacking for a large file, and it may have room for smaller ones.
    case space(needed: Int64? = nil)
    /// Files (inodes) on the file system.
    case files
    /// Room within the quota of the user: bytes or files.
    case quota
    /// The right to write to the file system, which is mounted read-only.
    case writing
    /// A folder: its file system may not be mounted.
    case folder
}

extension AwaitedResource {
    /// What the user can do to make it available.
    package var remedy: String {
        switch self {
        case .space: "free some space"
        case .files: "remove some files"
        case .quota: "remove some files, or have the quota raised"
        case .writing: "mount the file system writable"
        case .folder: "mount its disk again, or put the folder back"
        }
    }

    /// `cause`, and that the download continues without the user's help; its identifier begins with `waits-for-`.
    fileprivate func wait(because cause: LocalizableMessage) -> LocalizableMessage {
        switch self {
        case .space: LocalizableMessage("waits-for-space", "\(cause); continues by itself when there is space")
        case .files: LocalizableMessage("waits-for-files", "\(cause); continues by itself when it can have more files")
        case .quota: LocalizableMessage("waits-for-quota", "\(cause); continues by itself when the quota has room")
        case .writing: LocalizableMessage("waits-for-writing", "\(cause); continues by itself when it is writable")
        case .folder: LocalizableMessage("waits-for-folder", "\(cause); continues by itself when it is there again")
        }
    }
}

extension Failure {
    /// The same for a download that waits for what it lacks; unchanged if nothing is awaited.
    package var waiting: Failure {
        guard let awaited else { return self }
        let cause = cause ?? LocalizableMessage(untranslated: why)
        var failure = Failure(code, what, at: place, because: awaited.wait(because: cause))
        failure.remedy = awaited == .folder ? remedy : Remedy(awaited.remedy)
        failure.awaited = awaited
        return failure
    }
}

extension Failure {
    /// Whether the cause may be that the disk is not there any more.
    package var isOfDisk: Bool {
        switch code {
        case .inputOutput, .cannotOpen, .cannotCreate, .cannotMakeFolder, .renameFailed, .diskFull: true
        case _: false
        }
    }
}

/// An error of the program's own code, compared by identity.
package final class UnderlyingError: Hashable, Sendable {
    package let error: any Error

    package init(_ error: any Error) { self.error = error }

    package static func == (left: UnderlyingError, right: UnderlyingError) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Failure: CustomStringConvertible {
    package var description: String { sentence(at: place, remedy: remedy.text) }

    /// The same sentence with a surface's own text.
    package func sentence(at place: String, remedy: String) -> String {
        // A sentence that was stored as a whole is complete.
        guard !what.isEmpty else { return why }
        let cause = why.isEmpty ? "" : ": \(why)"
        let advice = remedy.isEmpty ? "" : "; \(remedy)"
        return "\(what) \(Failure.shortened(place))\(cause)\(advice)"
    }

    /// Nobody reads a megabyte that an input file or a server put into a sentence.
    private static func shortened(_ place: String) -> String {
        guard place.utf8.count > 4096 else { return place }
        let scalars = place.unicodeScalars
        return "\(Substring(scalars.prefix(1000)))…\(Substring(scalars.suffix(200)))"
    }
}

extension Failure {
    /// What has the name of a finished file is another file, or was written since.
    package static func notTheFile(
        _ what: String, at path: String, remedy: Remedy = "resume the download to fetch its file again"
    ) -> Failure {
        Failure(
            .fileExists, what, at: path,
            because: LocalizableMessage(
                "not-the-downloaded-file", "it is not the downloaded file any more: that was moved, replaced or changed"
            ), remedy: remedy)
    }
}
