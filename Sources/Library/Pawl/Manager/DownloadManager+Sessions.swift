#if Queue
import PawlBase
import PawlCore
import PawlEngine
package import PawlJournal
import PawlQueue

// Queue operations that sessions in the shape of NSURLSession need.
extension DownloadManager {
    /// The received data of a download that does not run.
    package enum Received: Sendable {
        /// Its files are still open; an event follows when they are closed.
        case running
        /// Also for a stream, whose bytes only its own record continues.
        case nothing
        /// The closed part file and its journal, with their resume data.
        case part(path: String, journal: String, DownloadResumeData)
    }

    /// Opens the queue of a session whose program has exited, and resumes downloads that ran or waited there.
    ///
    /// It runs as many at once as the program did, under the limit of `other`, and never resumes paused
    /// downloads. The queue must be intact and in this version's format: it belongs to the program, and is
    /// neither quarantined nor migrated.
    package convenience init(resumingIn root: String, beside other: DownloadManager) async throws(PawlError) {
        var configuration = Configuration()
        configuration.isGuest = true
        configuration.keepsResponses = true
        configuration.commonRate = other.commonRate
        configuration.deniesPrivateAddresses = other.settingsCache.deniesPrivateAddresses
        try await self.init(root: root, configuration)
    }

    /// Limits the connections to each host.
    package func limit(connectionsPerHost limit: Int) async throws(PawlError) {
        try await step { step throws(Failure) in
            try QueueKeeper.check(limit, "connections for each host")
            step.keeper.engine.limit(hosts: HostLimits(connections: limit))
        }
    }

    /// Whether a download runs or waits for a slot.
    package var hasWork: Bool {
        get async throws(PawlError) { try await totals(matching: DownloadFilter([.waiting])).count > 0 }
    }

    /// As ``resume(_:)``, but a download that has ended stays so: its task reports that end.
    package func resume(unlessEnded id: Download.ID) async throws(PawlError) {
        try await step { step throws(Failure) in
            guard let snapshot = try step.snapshot(of: id) else { return }
            switch snapshot.state {
            case .finished, .failed, .removed: return
            case .waiting, .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing,
                .paused, .preempted:
                try step.perform(.resume(id))
            }
        }
    }

    /// Runs `work` on the delegate's thread, after all earlier calls.
    package func perform(_ work: @escaping @Sendable () -> Void) { broadcaster.dispatcher.perform(work) }

    /// Changes the caller's own text of a download.
    package func change(taskDescription: String?, of id: Download.ID) async throws(PawlError) {
        try await step { $0.keeper.edit(QueueID(id)) { $0.taskDescription = taskDescription } }
    }

    /// The server's response with the content, also from an earlier run of the program if responses are kept.
    package func response(of id: Download.ID) async throws(PawlError) -> DownloadResponse? {
        try await query { keeper throws(Failure) in
            if let response = keeper.runs[QueueID(id)]?.response { return response }
            return try keeper.record(QueueID(id)).flatMap {
                let stored = StoredOptions(text: $0.options)
                return DownloadResponse(kept: stored.response, url: stored.responseURL)
            }
        }
    }

    /// The data of a paused or failed download on disk.
    package func received(of id: Download.ID) async throws(PawlError) -> Received {
        try await query { keeper throws(Failure) in try keeper.received(of: QueueID(id)) }
    }

    /// Makes the bytes of resume data the part file of the download that is added next with this request.
    ///
    /// The partial file in `partialFolder` itself becomes the part file if it `isGiven` and on the same file system;
    /// otherwise it is copied. No other download waits for that.
    package func takeOver(
        _ data: DownloadResumeData, partialFolder: String, isGiven: Bool, for request: DownloadRequest
    ) async throws(PawlError) -> AdoptedPart? {
        let (disk, root) = try await query { ($0.ports.disk, $0.root) }
        let result = await Task(executorPreference: Self.copying) {
            Result { () throws(Failure) in
                var options = request.options
                options.folder = "\(root)/\(try AddOrder.folder(options.folder))"
                return try data.takeOver(
                    partialFolder: partialFolder, safeCopy: nil, isGiven: isGiven, options: options, disk: disk)
            }
        }.value
        do throws(Failure) { return try result.get() } catch { throw PawlError(error) }
    }

    /// One copy at a time: several would only compete for the disk.
    private static let copying = ThreadExecutor("pawl-copy")

    /// Adds a download of resume data, whose bytes are in place.
    package func add(_ data: DownloadResumeData, as request: DownloadRequest) async throws(PawlError) -> Download {
        var request = request
        request.source = data.url
        request.options.headers += data.headers(beside: request.options.headers)
        return try await add(request)
    }
}

extension QueueKeeper {
    fileprivate func received(of id: QueueID) throws(Failure) -> DownloadManager.Received {
        guard runs[id] == nil else { return .running }
        // A download added with bytes has no name before its first response.
        guard let record = try record(id), let name = try begunName(of: record),
            StoredOptions(text: record.options).stream == nil, ports.disk.holdsPart(of: name, in: path(of: record))
        else { return .nothing }
        let sources = record.sources
        let facts = JournalFacts(sources: sources, name: name)
        let claim = Claim(folder: path(of: record), name: name, ifExists: .fail, facts: facts)
        let former = StoredOptions(text: record.options).formerSources
        let isOwn: (LoadedJournal) -> Bool = { $0.facts.sources.first.map(former.contains) ?? false }
        switch try ports.disk.claim(claim, adopts: isOwn) {
        case .fresh(let partial):
            partial.discard()
            return .nothing
        case .existing(let partial, _):
            try partial.restoreOriginal()
            return .nothing
        case .skipped: return .nothing
        case .found(let partial, let journal):
            let (part, log) = (
                FileName.partial(of: name, as: partial.form), FileName.journal(of: name, as: partial.form)
            )
            try partial.close(keeping: journal.facts, done: journal.done)
            let known = journal.facts.representation
            // Resume data tells neither a coding, and a coded response cannot be continued, nor where a part begins.
            guard known.coding == nil, known.base == 0 else { return .nothing }
            var data = DownloadResumeData(
                DownloadResumeData.Request(url: sources[0]),
                received: min(journal.done.prefix, known.openJoints.min() ?? .max),
                partialName: part)
            // Without validators, or with those of a redirect's target or of no meaning, the bytes are compared.
            if let address = try? WebAddress.parse(sources[0]).address,
                let record = known.record(of: address.text, at: address.origin.text), record.stability != .varying
            {
                data.entityTag = record.validators.entityTag?.text
                data.serverDate = record.validators.lastModified?.httpDate
            }
            return .part(path: path(of: part, record), journal: path(of: log, record), data)
        }
    }
}
#endif
