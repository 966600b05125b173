extension PawlError.Code {
    /// Nothing more is known.
    public static let unknown = Self(rawValue: 1)
    /// Silence for longer than ``DownloadOptions/timeout``.
    public static let timeout = Self(rawValue: 2)
    /// The server does not have it (404, 410).
    public static let notFound = Self(rawValue: 3)
    /// Slower than was asked for.
    public static let tooSlow = Self(rawValue: 5)
    /// The network or the connection failed.
    public static let network = Self(rawValue: 6)
    /// Paused or interrupted; everything received is kept.
    public static let unfinished = Self(rawValue: 7)
    /// What is on disk cannot be continued.
    public static let cannotResume = Self(rawValue: 8)
    /// No room; everything received is kept.
    public static let diskFull = Self(rawValue: 9)
    /// Another download or process is at work on the same file.
    public static let alreadyDownloading = Self(rawValue: 11)
    /// A finished file of that name is there, see ``DownloadOptions/existingFile``.
    public static let fileExists = Self(rawValue: 13)
    /// The finished file could not be moved to its name.
    public static let renameFailed = Self(rawValue: 14)
    /// A file could not be opened.
    public static let cannotOpen = Self(rawValue: 15)
    /// A file could not be created.
    public static let cannotCreate = Self(rawValue: 16)
    /// Reading or writing a file failed.
    public static let inputOutput = Self(rawValue: 17)
    /// The folder could not be made.
    public static let cannotMakeFolder = Self(rawValue: 18)
    /// The host's name could not be resolved.
    public static let nameResolution = Self(rawValue: 19)
    /// The server's answer was bad or not the one that was expected.
    public static let badResponse = Self(rawValue: 22)
    /// More redirects than ``DownloadOptions/maximumRedirects``, or a loop.
    public static let tooManyRedirects = Self(rawValue: 23)
    /// The server wants other credentials (401, 403, 407).
    public static let authorization = Self(rawValue: 24)
    /// An option or a URL cannot be used.
    public static let badOption = Self(rawValue: 28)
    /// The server is overloaded (429, 502, 503, 504).
    public static let overloaded = Self(rawValue: 29)
    /// The content is not the one that ``DownloadOptions/checksum`` names.
    public static let checksumMismatch = Self(rawValue: 32)
    /// The server's certificate or host key is not trusted.
    public static let insecure = Self(rawValue: 33)
    /// The journal was written by a newer version.
    public static let newerJournal = Self(rawValue: 34)
    /// The content is larger than the caller would take.
    public static let tooLarge = Self(rawValue: 35)
}
