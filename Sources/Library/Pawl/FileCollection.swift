#if Features
import PawlBase
import PawlCollections
import PawlSystem
import Synchronization

/// All files that a URL stands for: those below a web index, in a folder of an FTP or SFTP server or of a prefix of an object
/// store, those of a model hub's repository, or the blobs of an image of a registry.
///
/// ```swift
/// let collection = try FileCollection("https://example.org/releases/")
/// for try await entry in collection.entries { print(entry.path, entry.size ?? 0) }
/// let report = try await collection.download(to: "mirror")
/// ```
///
/// The URL ends with a slash, or is one as `hf://ORG/NAME@REVISION`, `oci://HOST/NAME:TAG`, `docker://NAME` and `ollama://MODEL`.
/// Pages are requested with the options of the downloads: logins, proxy, header fields, retries.
/// Each use lists anew. Names are checked: no entry has a path that leads out of a folder.
public struct FileCollection: Sendable {
    /// Which entries are wanted, and what else happens.
    public struct Options: Sendable, Hashable {
        /// Patterns of the entries that are wanted, and of those that are not, in the order in which the last match counts:
        /// `*` stands for any characters, `?` for one.
        ///
        /// Without a slash the last name is compared, else the whole path; with a slash at the end folders are. Default none.
        public var rules: [Rule] = []
        /// Folders below each other that are visited; 0 for the files of the given one.
        ///
        /// Default `nil`, up to 64.
        public var maximumDepth: Int?
        /// Entries of this time, in seconds since 1970, and older ones are left out.
        ///
        /// Default `nil`, none.
        public var newerThan: Int64?
        /// Larger files are left out, as far as the listing has sizes, in bytes.
        ///
        /// Default `nil`, none.
        public var maximumSize: Int64?
        /// Whether robots.txt decides which folders below the given one are listed.
        ///
        /// Default `true`.
        public var obeysRobots = true
        /// Whether symbolic links of FTP and SFTP folders are followed to what is beside them; otherwise they are left out.
        ///
        /// Default `true`.
        public var followsLinks = true
        /// Whether ``FileCollection/download(to:progress:)`` removes files that it has downloaded earlier and that are gone.
        ///
        /// Nothing is removed after an incomplete or empty listing, where ``rules``, ``maximumDepth``, ``newerThan`` or ``maximumSize`` may
        /// have left out entries, or when a file failed; ``Report/notices`` says why. Default `false`.
        public var removesMissing = false
        /// Which image of a registry's index is wanted: `OS/ARCHITECTURE`, such as `linux/arm64`, or `all`.
        ///
        /// Default `nil`, that of this machine.
        public var platform: String?
        /// Whether the blobs of a registry's artifact that have titles are the files, under these, instead of an image's layout.
        ///
        /// Default `false`.
        public var isArtifact = false

        /// Creates options with all defaults.
        public init() {}
    }

    /// One pattern.
    public struct Rule: Sendable, Hashable {
        /// Whether entries that match are wanted.
        public var isIncluded: Bool
        /// The pattern, see ``Options/rules``.
        public var pattern: String

        /// Creates a rule.
        public init(isIncluded: Bool, pattern: String) {
            self.isIncluded = isIncluded
            self.pattern = pattern
        }
    }

    /// A file of the collection, as the listing describes it.
    public struct Entry: Sendable, Hashable {
        /// Below the collection, with slashes between names.
        public var path: String
        /// Its URL.
        public var url: String
        /// In bytes; `nil` if the listing does not say.
        public var size: Int64?
        /// Whether ``size`` is the number of bytes, and not a rounded one.
        public var isSizeExact: Bool
        /// In seconds since 1970; `nil` if the listing does not say.
        public var modified: Int64?
        /// A digest of the content that the listing states, as ``DownloadOptions/checksum``; what is downloaded has it.
        public var checksum: String?
        /// The media type of a registry's blob.
        public var mediaType: String?

        /// Creates an entry, for tests and previews.
        public init(
            path: String, url: String, size: Int64? = nil, isSizeExact: Bool = true, modified: Int64? = nil,
            checksum: String? = nil, mediaType: String? = nil
        ) {
            self.path = path
            self.url = url
            self.size = size
            self.isSizeExact = isSizeExact
            self.modified = modified
            self.checksum = checksum
            self.mediaType = mediaType
        }
    }

    /// How a download of a collection is going.
    public struct Progress: Sendable, Hashable {
        /// Files that were listed so far.
        public var listed = 0
        /// Whether all are.
        public var isListed = false
        /// Files that are complete, those that were there already included.
        public var complete = 0
        /// Files that could not be downloaded.
        public var failed = 0
        /// Bytes received so far, those of running downloads of more than 1 MiB included.
        public var received: Int64 = 0
        /// Bytes of the files that were listed so far, as far as the listing states sizes; what is there already included.
        public var total: Int64 = 0

        /// Creates a state, for tests and previews.
        public init(
            listed: Int = 0, isListed: Bool = false, complete: Int = 0, failed: Int = 0, received: Int64 = 0,
            total: Int64 = 0
        ) {
            self.listed = listed
            self.isListed = isListed
            self.complete = complete
            self.failed = failed
            self.received = received
            self.total = total
        }
    }

    /// What a download of a collection came to.
    public struct Report: Sendable, Hashable {
        /// Files that were downloaded.
        public internal(set) var finished = 0
        /// Files that were there already: shown without a request, or by one response each.
        public internal(set) var unchanged = 0
        /// Paths that were removed, see ``Options/removesMissing``.
        public internal(set) var removed: [String] = []
        /// Why files, entries or folders failed, in the order in which that happened; their ``PawlError/place`` says which.
        public internal(set) var failures: [PawlError] = []
        /// What was left out without a failure.
        public internal(set) var notices: [String] = []
        /// Whether no file can have been missed, filters apart.
        public internal(set) var isComplete = false
        /// Bytes received.
        public internal(set) var received: Int64 = 0

        /// Creates a report, for tests and previews.
        public init(
            finished: Int = 0, unchanged: Int = 0, removed: [String] = [], failures: [PawlError] = [],
            notices: [String] = [], isComplete: Bool = false, received: Int64 = 0
        ) {
            self.finished = finished
            self.unchanged = unchanged
            self.removed = removed
            self.failures = failures
            self.notices = notices
            self.isComplete = isComplete
            self.received = received
        }
    }

    let source: CollectionSource
    let options: Options
    let downloadOptions: DownloadOptions
    let configuration: Downloader.Configuration

    /// Prepares a listing; nothing is requested yet.
    ///
    /// `downloadOptions` are those of each file, `nil` for those of `configuration`; ``DownloadOptions/fileName`` and others for one
    /// file are not used. Throws
    /// ``PawlError`` with code 28 if the URL or an option is invalid, or the URL names no folder.
    public init(
        _ url: String, options: Options = Options(), downloadOptions: DownloadOptions? = nil,
        configuration: Downloader.Configuration = Downloader.Configuration()
    ) throws(PawlError) {
        let downloadOptions = downloadOptions ?? configuration.options
        do throws(Failure) {
            guard let source = try CollectionSource(url, isRecursive: true, downloadOptions) else {
                // An invalid one has its own reason.
                let address = try WebAddress.parse(url).address
                throw Failure(
                    .badOption, "cannot list", at: address.redacted, because: "it names a file",
                    remedy: "end it with / for a folder")
            }
            try DownloadOption.check(downloadOptions)
            self.source = source
        } catch { throw PawlError(error) }
        self.options = options
        self.downloadOptions = downloadOptions
        self.configuration = configuration
    }

    /// The files, while they are listed.
    ///
    /// The iteration throws ``PawlError`` when the listing fails as a whole. Entries that no file can have are left out;
    /// ``download(to:progress:)`` reports them.
    public var entries: Entries { Entries(collection: self) }

    /// A sequence of entries; each iteration lists anew.
    public struct Entries: AsyncSequence, Sendable {
        /// A file.
        public typealias Element = Entry
        let collection: FileCollection

        /// Begins the listing.
        public func makeAsyncIterator() -> Iterator { Iterator(collection) }

        /// The iteration.
        public struct Iterator: AsyncIteratorProtocol {
            /// Stops the listing when the last copy of the iterator is gone.
            private final class Listing: Sendable {
                let run: Result<CollectionRun, PawlError>
                let signal = ChangeSignal()
                let waiting = Mutex<(entries: [Entry], next: Int)>(([], 0))

                init(_ collection: FileCollection) {
                    do throws(PawlError) {
                        let (run, _) = try collection.listing(to: nil) { [signal] in signal.notify() }
                        run.start()
                        self.run = .success(run)
                    } catch { run = .failure(error) }
                }

                deinit { if case .success(let run) = run { run.stop() } }

                func take() -> Entry? {
                    waiting.withLock { waiting in
                        guard waiting.next < waiting.entries.count else { return nil }
                        defer { waiting.next += 1 }
                        return waiting.entries[waiting.next]
                    }
                }
            }

            private let listing: Listing

            init(_ collection: FileCollection) { listing = Listing(collection) }

            /// The next file; `nil` after the last.
            ///
            /// Throws ``PawlError``, and `CancellationError` when the task is cancelled.
            public mutating func next() async throws -> Entry? {
                let run = try listing.run.get()
                while true {
                    if let entry = listing.take() { return entry }
                    let seen = listing.signal.count
                    try Task.checkCancellation()
                    let tally = run.tally
                    let found = run.take().compactMap { event -> Entry? in
                        if case .entry(let planned) = event { Entry(planned.entry) } else { nil }
                    }
                    if !found.isEmpty {
                        listing.waiting.withLock { $0 = (found, 0) }
                        continue
                    }
                    if let failure = tally.failure { throw PawlError(failure) }
                    if tally.isOver { return nil }
                    await listing.signal.wait(after: seen)
                }
            }
        }
    }
}

extension FileCollection.Entry {
    init(_ entry: CollectionEntry) {
        self.init(
            path: entry.path, url: entry.address, size: entry.size, isSizeExact: entry.isExact,
            modified: entry.modified?.seconds, checksum: entry.checksum, mediaType: entry.mediaType)
    }
}

extension FileCollection {
    var listingOptions: ListingOptions {
        var listing = ListingOptions()
        listing.isRecursive = true
        var filter = EntryFilter()
        filter.rules = options.rules.map { EntryFilter.Rule($0.pattern, isIncluded: $0.isIncluded) }
        filter.maximumDepth = options.maximumDepth
        filter.newerThan = options.newerThan.map { UnixTime(seconds: $0) }
        filter.maximumSize = options.maximumSize
        (listing.filter, listing.obeysRobots, listing.followsLinks) = (
            filter, options.obeysRobots, options.followsLinks
        )
        (listing.platform, listing.isArtifact) = (options.platform, options.isArtifact)
        return listing
    }

    /// Whether an entry that is not listed may exist all the same.
    var isSelective: Bool { listingOptions.filter.isSelective }

    func listing(
        to target: CollectionSource.Target?, onChange: @escaping @Sendable () -> Void
    ) throws(PawlError) -> (run: CollectionRun, folder: String) {
        do throws(Failure) {
            let lister = try source.lister(listingOptions, to: target ?? .folder("."), downloadOptions, configuration)
            var folder = lister.folder ?? "."
            if case .folder(let path) = target { folder = path }
            let run = CollectionRun(
                lister, into: target.map { _ in folder }, remembersPaths: options.removesMissing,
                isForDownload: target != nil, settles: target != nil, onChange: onChange)
            return (run, folder)
        } catch { throw PawlError(error) }
    }
}
#endif
