extension PawlError.Code {
    /// An unspecified error.
    public static let unknown = Self(rawValue: 1)
    /// No data for longer than ``DownloadOptions/timeout``.
    public static let timeout = Self(rawValue: 2)
    /// The server does not have the resource (404, 410).
    public static let notFound = Self(rawValue: 3)
    /// Slower than ``DownloadOptions/lowestSpeed``.
    public static let tooSlow = Self(rawValue: 5)
    /// The network or the connection failed.
    public static let network = Self(rawValue: 6)
    /// Paused or interrupted; everything received is kept.
    public static let unfinished = Self(rawValue: 7)
    /// The data on disk cannot be resumed.
    public static let cannotResume = Self(rawValue: 8)
    /// Not enough disk space; everything received is kept.
    public static let diskFull = Self(rawValue: 9)
    /// Another download or process uses the same file.
    public static let alreadyDownloading = Self(rawValue: 11)
    /// A finished file of that name exists, see ``DownloadOptions/existingFile``.
    public static let fileExists = Self(rawValue: 13)
    /// The finished file could not be renamed to its final name.
    public static let renameFailed = Self(rawValue: 14)
    /// A file could not be opened.
    public static let cannotOpen = Self(rawValue: 15)
    /// A file could not be created.
    public static let cannotCreate = Self(rawValue: 16)
    /// Reading or writing a file failed.
    public static let inputOutput = Self(rawValue: 17)
    /// The folder could not be created.
    public static let cannotMakeFolder = Self(rawValue: 18)
    /// The host name could not be resolved.
    public static let nameResolution = Self(rawValue: 19)
    /// The response was invalid or did not match the request.
    public static let badResponse = Self(rawValue: 22)
    /// More redirects than ``DownloadOptions/maximumRedirects``, or a loop.
    public static let tooManyRedirects = Self(rawValue: 23)
    /// The server requires other credentials (401, 403, 407).
    public static let authorization = Self(rawValue: 24)
    /// An option or a URL is invalid.
    public static let badOption = Self(rawValue: 28)
    /// The server is overloaded (429, 502, 503, 504).
    public static let overloaded = Self(rawValue: 29)
    /// The content does not match ``DownloadOptions/checksum``.
    public static let checksumMismatch = Self(rawValue: 32)
    /// The server's certificate or host key is not trusted, or the server requires another client certificate.
    public static let insecure = Self(rawValue: 33)
    /// The journal was written by a newer version.
    public static let newerJournal = Self(rawValue: 34)
    /// The content is larger than the caller's maximum.
    public static let tooLarge = Self(rawValue: 35)
    /// The program itself refused a request or a response, see ``DownloadHooks``.
    public static let rejected = Self(rawValue: 36)
}

extension PawlError.Code: CustomStringConvertible {
    /// The name, such as `notFound`; the number of a code that has none.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .timeout: "timeout"
        case .notFound: "notFound"
        case .tooSlow: "tooSlow"
        case .network: "network"
        case .unfinished: "unfinished"
        case .cannotResume: "cannotResume"
        case .diskFull: "diskFull"
        case .alreadyDownloading: "alreadyDownloading"
        case .fileExists: "fileExists"
        case .renameFailed: "renameFailed"
        case .cannotOpen: "cannotOpen"
        case .cannotCreate: "cannotCreate"
        case .inputOutput: "inputOutput"
        case .cannotMakeFolder: "cannotMakeFolder"
        case .nameResolution: "nameResolution"
        case .badResponse: "badResponse"
        case .tooManyRedirects: "tooManyRedirects"
        case .authorization: "authorization"
        case .badOption: "badOption"
        case .overloaded: "overloaded"
        case .checksumMismatch: "checksumMismatch"
        case .insecure: "insecure"
        case .newerJournal: "newerJournal"
        case .tooLarge: "tooLarge"
        case .rejected: "rejected"
        case _: "\(rawValue)"
        }
    }
}
