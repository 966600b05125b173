import PawlBase
import PawlCore
import PawlJournal

// Claims the file's name, with its part file and journal: before the first request when the name is known, else with
// the first response.
extension Runner {
    /// Claims, before any request, a name that the user chose, or an earlier run's part file of the same
    /// address.
    func earlyClaim() -> ClaimOutcome? {
        let address = job.plan.sources[0]
        if case .sink(let maker) = destination {
            return maker.isBegun() ? claim(name: job.fileName ?? name(from: address, nil), adoptsAny: false) : nil
        }
        if let name = job.fileName {
            // It may be complete: the server's current state decides.
            return mayBeComplete(name) ? nil : claim(name: name, adoptsAny: !job.isNameClaimed)
        }
        if let name = begunName() { return claim(name: name, adoptsAny: false) }
        // `skip` and `resume` apply to a file of the address's own name; no request is needed (C3).
        let mayBeThere = job.ifExists == .skip || job.ifExists == .resume
        guard job.naming != .server || mayBeThere else { return nil }
        let name = name(from: address, nil)
        guard job.naming != .server || disk.holds(name, in: job.folder), !mayBeComplete(name) else { return nil }
        return claim(name: name, adoptsAny: false)
    }

    /// The name of a part file that an earlier run began, maybe for an address that was replaced since.
    func begunName() -> String? {
        (addresses + job.formerSources).lazy.compactMap { [disk, job] in disk.unfinished(of: $0, in: job.folder) }
            .first { [job] in job.belongsToAnother?($0, .part) != true }
    }

    /// Whether a finished file of this address exists; for other files of the name `ifExists` applies.
    private func mayBeComplete(_ name: String) -> Bool {
        (job.ifExists == .rename || job.replaces.map { !$0.isWrong } ?? false)
            && disk.wasFinished(name, from: addresses[0], in: job.folder)
    }

    /// The fingerprint of the content, from the first address's own validators.
    var content: ContentFingerprint? {
        ask { [source = addresses[0], selection = job.plan.selection, now = clock.wallTime] in
            $0.representation?.fingerprint(of: source, selection: selection, now: now)
        }
    }

    /// Claims the name from the response to `lane`.
    func claim(_ lane: LaneID) {
        guard let index = ask({ $0.source(of: lane) }) else { return }
        // As in browsers, the URL after redirects has the name, unless Content-Disposition states one.
        let address = machine.sources[index].current
        let name = job.fileName ?? self.name(from: address, lastHead)
        let outcome = claim(name: name, adoptsAny: job.fileName != nil && !job.isNameClaimed)
        feed { $0.claimed(lane, outcome, now: $1) }
    }

    /// Compares the file that is there with the content that the response to `lane` names.
    func recognize(_ lane: LaneID) {
        let found = job.fileName.flatMap { disk.finished(request(for: $0)) }
        let length = found.flatMap { disk.length(of: take($0), in: job.folder) }
        feed { $0.recognized(lane, found != nil, length: length, now: $1) }
    }

    private func request(for name: String) -> Claim {
        var facts = self.facts
        facts.name = name
        var request = Claim(folder: job.folder, name: name, ifExists: job.ifExists, facts: facts)
        request.isChosen = job.fileName != nil
        request.replaces = job.replaces
        // In a queue each download has a file of its own.
        request.recognizesBytes = job.onPublishing == nil
        if hasHead {
            request.content = {
                [
                    representation = facts.representation, source = addresses[0], part = job.plan.selection,
                    now = clock.wallTime
                ] in representation.fingerprint(of: source, selection: part, now: now)
            }
            request.length = machine.lanes.map.total
        }
        if let belongsToAnother = job.belongsToAnother { request.belongsToAnother = belongsToAnother }
        return request
    }

    private func claim(name: String, adoptsAny: Bool) -> ClaimOutcome {
        let request = request(for: name)
        do throws(Failure) {
            switch destination {
            case .folder: return take(try disk.claim(request) { found in adoptsAny || adopts(found) })
            case .sink(let maker): return take(try maker.begin(request), named: name)
            }
        } catch { return .failed(error) }
    }

    /// Whether a part file of another first address is resumed.
    ///
    /// It is when that address is a mirror now or was the download's earlier one, and when it differs in its query only and the strong tag is the same
    /// (A8: signed addresses change). The machine compares bytes before it relies on that.
    ///
    /// Any other part file belongs to another download (A9).
    private func adopts(_ found: LoadedJournal) -> Bool {
        guard let source = found.facts.sources.first else { return false }
        if (addresses + job.formerSources).containsBytes(of: source) { return true }
        guard let offered = ask({ $0.representation }), found.facts.representation.resembles(offered) else {
            return false
        }
        do throws(Failure) {
            var before = try WebAddress.parse(source).address
            var now = job.plan.sources[0]
            before.query = nil
            now.query = nil
            return before == now
        } catch { return false }
    }

    private func take(_ result: ClaimResult) -> ClaimOutcome {
        switch result {
        case .fresh(let file):
            take(file)
            return .fresh
        case .found(let file, let journal):
            take(file)
            naming.isProvisional = journal.facts.name.isEmpty
            return .found(journal)
        case .existing(let file, let length):
            take(file)
            return .existing(length: length, holes: file.holes)
        case .skipped(let path): return .skipped(length: disk.length(of: take(path), in: job.folder))
        }
    }

    private func take(_ start: SinkStart, named name: String) -> ClaimOutcome {
        machine.named(name)
        switch start {
        case .fresh(let sink):
            place = .sink(sink)
            return .fresh
        case .found(let sink, let journal):
            place = .sink(sink)
            return .found(journal)
        case .present(let path):
            _ = take(path)
            return .skipped(length: nil)
        }
    }

    private func take(_ file: any JournalledFile) {
        place = .file(file)
        machine.named(file.name)
    }

    /// What is there already is the result; returns its name.
    private func take(_ path: String) -> String {
        set(path: path)
        let name = path.pathParts().last.map(String.init) ?? path
        machine.named(name)
        return name
    }
}
