import PawlBase
import PawlCore
import PawlJournal

// Execution of the machine's actions. Effects only; all decisions were made before.
extension Runner {
    func perform(_ actions: [Action]) {
        performing += 1
        defer { settlePlaces() }
        if let witness { witness.decided(id, run: run, actions, machine) }
        let before = diskFailures
        decisions &+= 1
        readConnections = nil
        // By index: each action of a sequence would be a copy.
        for index in actions.indices {
            // A disk failure has voided these actions; only connections still have to be closed.
            if diskFailures != before, !actions[index].isDrop { continue }
            perform(actions[index])
        }
        if !hooks.questions.isEmpty { withdrawQuestions() }
        if !actions.isEmpty { releaseWhenAtRest() }
    }

    private func perform(_ action: Action) {
        switch action {
        case .open(let order): open(order)
        case .drop(let lane): drop(lane)
        case .limit(let lane, let end): writers.first { $0.lane == lane }?.end = end
        case .claim(let lane): claim(lane)
        case .recognize(let lane): recognize(lane)
        case .admit(let lane): admit(lane)
        case .startOver:
            restarts += 1
            onDisk { place throws(Failure) in try place.startOver(facts) }
        case .reserve(let total): onDisk { place throws(Failure) in try place.reserve(total) }
        case .record: record()
        case .checkpoint: checkpoint()
        case .alarm(let alarm): set(alarm: alarm)
        case .refresh(let source, let generation): refresh(source, generation)
        case .ask(let order): ask(order)
        case .useMemory(let limit): useMemory(limit: limit)
        case .refused(let refusal): refused(refusal)
        case .verify(let algorithms, let length): verify(algorithms, length: length)
        case .verifyDecoded(let algorithms, let coding, let length):
            verifyDecoded(algorithms, coding: coding, length: length)
        case .findSidecars(let source, let hasSums, let description):
            findSidecars(source, hasSums: hasSums, description: description)
        case .check(let check, let algorithm): hash(check, algorithm)
        case .discard(let range): discard(range)
        case .publish(let length, let modified): publish(length: length, modified: modified)
        case .close(let keeping): close(keeping: keeping)
        case .restoreOriginal: restore { file throws(Failure) in try file.restoreOriginal() }
        case .restoreExtended(let length):
            restore { file throws(Failure) in try file.restoreExtended(length: length) }
        case .notify(let update): notify(update)
        }
    }

    var facts: JournalFacts {
        JournalFacts(
            sources: hasOtherAddress ? machine.provenAddresses : addresses, representation: ask { $0.remembered },
            name: naming.isProvisional ? "" : ask { $0.name } ?? "")
    }

    /// Gives an existing file its name back.
    private func restore(_ effect: (any JournalledFile) throws(Failure) -> Void) {
        let restored = place?.file
        place = nil
        if let restored {
            do throws(Failure) { try effect(restored) } catch { notify(.notice(LocalizableMessage(error))) }
        }
        set(path: restored?.path ?? "")
    }

    private func onDisk(_ effect: (Place) throws(Failure) -> Void) {
        guard let place else { return }
        do throws(Failure) { try effect(place) } catch {
            // A machine at rest has nothing to decide, and its last actions, among them the closing, still count.
            var isAtRest = false
            feed { machine, _ in
                let actions = machine.diskFailed(error)
                isAtRest = actions.isEmpty
                if !isAtRest { noteDiskFailure() }
                return actions
            }
            if isAtRest { notify(.notice(LocalizableMessage(error))) }
        }
    }

    // MARK: lanes

    func open(_ order: LaneOrder) {
        let now = clock.now
        // The first connection is what the run has begun with.
        if straight == nil, ask({ $0.lanes.list.count }) > 1, !shared.mayOpen(run) {
            return feed(now: now) { $0.postponed(order.lane, until: $1 + .seconds(1), now: $1) }
        }
        let change = hooks.isEmpty ? nil : hooks.changes.removeValue(forKey: order.lane)
        let address = shared.secured(located(change?.address ?? order.address))
        let origin = address.origin
        let asksForProperties = job.plan.listing == .properties
        let mayShare =
            job.sharesConnections && !asksForProperties && order.connection == .shared && origin.scheme == .https
        guard acquire(address, for: order, mayShare: mayShare, now: now) else { return }
        let transfer = shared.nextTransfer()
        let writer = LaneWriter(
            lane: order.lane, transfer: transfer, address: address, mayShare: mayShare, runner: self)
        lastResponse = nil
        if job.isMeasured { writer.record = TransferRecord(address: address, range: order.requested, start: now) }
        writers.append(writer)
        let object = change == nil && order.address.isLocated ? order.address : nil
        let isNamed =
            object != nil || job.plan.sources.contains { $0.origin == origin || shared.secured($0).origin == origin }
        // Less secure than the given address.
        let isLess = !origin.scheme.isSecure && job.plan.sources.contains { $0.scheme.isSecure }
        var request = TransferRequest(
            address: address, range: order.requested, connection: job.sharesConnections ? order.connection : .separate,
            carriesSecrets: isNamed || job.trustsRedirects && !isLess, bypassesCaches: order.bypassesCaches,
            bufferSize: bufferSize, settings: job.settings)
        request.knownLength = order.knownLength
        if let time = order.unchangedSince, !shared.hosts.hidesValidators(origin) {
            request.fields.append("If-Modified-Since: \(time.httpDate)")
        }
        request.isMeasured = job.isMeasured
        request.object = object
        request.listing = job.plan.listing
        if asksForProperties { request.askForProperties() }
        request.judge = job.judge
        // A host's own entry of a netrc file is for that host, but no secret is sent to another port of a
        // given host.
        request.leadsToOtherHost = !job.plan.sources.contains {
            $0.host == origin.host || $0.scheme.isSecure && !origin.scheme.isSecure
        }
        if !hooks.isEmpty || change != nil { hooks.prepare(&request, change) }
        loop.send(request, as: transfer, sink: writer)
    }

    /// The URL of what a located address names; every other address as it is.
    func located(_ address: WebAddress) -> WebAddress {
        guard case .located(let scheme) = address.scheme else { return address }
        return job.settings.values.accesses[scheme]?.locating.location(of: address) ?? address
    }

    /// Under a limit large reads would cause bursts of seconds.
    private var bufferSize: Int {
        guard let rate = presentLimit else { return 512 * 1024 }
        return min(512 * 1024, max(4 * 1024, Int(rate / 8)))
    }

    private func drop(_ lane: LaneID) {
        guard let index = writers.firstIndex(where: { $0.lane == lane }) else { return }
        let writer = writers.remove(at: index)
        free(writer)
        finish(writer)
        if writer.isJudged { writer.isDropped = true } else { loop.cancel(writer.transfer) }
    }

    private func admit(_ id: LaneID) {
        guard let writer = writers.first(where: { $0.lane == id }), let extent = ask({ $0.extent(of: id) }) else {
            return
        }
        let hadJournal = place?.file?.hasJournal ?? true
        // Through the stored property, as in `read`.
        let hasBytes = !machine.lanes.map.done.isEmpty
        // A small file in a single response is complete before a journal could help it.
        let wantsJournal = hasBytes || machine.lanes.map.total.map { $0 > Claim.smallFile } ?? true
        onDisk { place throws(Failure) in
            guard let file = place.file else { return }
            if !file.hasJournal, wantsJournal {
                try file.beginJournal(facts, done: machine.lanes.map.done)
                // Active lanes have written without one.
                for other in machine.lanes.list where other.isFlowing && other.id != id {
                    guard !other.isSettling else { continue }
                    try file.beginLane(slot: other.slot, at: other.cursor)
                }
            }
            if !extent.onlyCompares, file.hasJournal { try file.beginLane(slot: extent.slot, at: extent.cursor) }
        }
        // Checkpoints due before the journal existed did nothing.
        if !hadJournal, hasBytes { checkpoint() }
        guard ask({ $0.source(of: id) }) != nil else { return }
        serve(writer)
        writer.admit(extent)
    }

    private func refresh(_ source: Int, _ generation: UInt32) {
        let post = loop.poster(for: self)
        job.refresh?(machine.sources[source].given) { address in
            post(.refreshed(source: source, generation: generation, address))
        }
    }

    // MARK: disk

    private func record() {
        if let file = place?.file, !file.hasJournal { return }
        onDisk { place throws(Failure) in try place.record(facts, done: machine.lanes.map.done) }
    }

    private func verify(_ algorithms: [HashAlgorithm], length: Int64) {
        let post = loop.poster(for: self)
        guard let place else {
            // What a sink has found is nowhere that it could be read.
            guard case .folder = destination else { return post(.digested(.success([]))) }
            return disk.digests(algorithms, of: publishedPath) { post(.digested($0)) }
        }
        place.digests(algorithms, length: length) { post(.digested($0)) }
    }

    private func verifyDecoded(_ algorithms: [HashAlgorithm], coding: String, length: Int64) {
        let post = loop.poster(for: self)
        guard let place else { return post(.digestedDecoded(.success(nil))) }
        place.decodedDigests(algorithms, coding: coding, length: length) { post(.digestedDecoded($0)) }
    }

    private func findSidecars(_ source: Int, hasSums: Bool, description: WebAddress?) {
        let post = loop.poster(for: self)
        let address = machine.sources[source].given
        guard let finder = shared.digestFinder else { return post(.foundSidecars(FoundDigests(), of: address)) }
        let terms = FetchTerms(
            settings: job.settings, timeout: job.plan.timeout, allowsDowngrade: job.plan.allowsDowngrade,
            trustsRedirects: job.trustsRedirects, sharesConnections: job.sharesConnections)
        let search = DigestSearch(
            beside: address, hasSums: hasSums, description: description, keys: job.signingKeys, terms: terms)
        finder.find(search) { post(.foundSidecars($0, of: address)) }
    }

    private func hash(_ check: PieceMap.Check, _ algorithm: HashAlgorithm) {
        let post = loop.poster(for: self)
        guard let file = place?.file else {
            return disk.hash(check.range, algorithm, padding: check.padding, of: publishedPath) {
                post(.pieceHashed(check, $0))
            }
        }
        file.hash(check.range, algorithm, padding: check.padding) { post(.pieceHashed(check, $0)) }
    }

    /// The journal claims no byte of `range` any more; the lanes' slots begin anew at their cursors.
    private func discard(_ range: ByteRange) {
        onDisk { place throws(Failure) in
            guard let file = place.file else { return }
            try file.discard(range, facts, done: machine.lanes.map.done)
            guard file.hasJournal else { return }
            for lane in machine.lanes.list where lane.isFlowing && !lane.isSettling {
                try file.beginLane(slot: lane.slot, at: lane.cursor)
            }
        }
    }

    private func publish(length: Int64, modified: UnixTime?) {
        guard let place else { return }
        // One that is published before this returns is released in its place.
        let waits = job.onPublishing != nil || place.file?.publishesAtOnce != true
        if waits, job.observer == nil { shared.onPublishing(id) }
        guard let announce = job.onPublishing else { return commit(length: length, modified: modified) }
        let post = loop.poster(for: self)
        let publishing = Publishing(
            name: ask { $0.name } ?? "", length: length, source: machine.sources[0].given.text, finalName: finalName,
            stamp: place.file?.stamp)
        announce(publishing) { reply in
            switch reply {
            case .success: post(.mayPublish(length: length, modified: modified))
            case .failure(let failure): post(.published(.failure(failure)))
            }
        }
    }

    func commit(length: Int64, modified: UnixTime?) {
        let post = loop.poster(for: self)
        if let file = place?.file {
            file.remember(content)
            if job.plan.storesAttributes { storeAttributes(with: file) }
        }
        published = place?.file?.stamp
        place?.publish(length: length, modified: modified) { post(.published($0)) }
    }

    private func storeAttributes(with file: any JournalledFile) {
        var address = job.plan.sources[0]
        // A query may be a secret, and an attribute travels with the file.
        address.query = nil
        var attributes = [(name: "user.xdg.origin.url", value: address.text)]
        if let sha256 { attributes.append((name: "user.pawl.sha256", value: Hexadecimal.text(sha256))) }
        do throws(Failure) { try file.setAttributes(attributes) } catch {
            notify(.notice(.init("attributes-not-stored", "\(error)")))
        }
    }

    func close(keeping: Bool) {
        guard let place else { return }
        self.place = nil
        do throws(Failure) { try place.close(keeping: keeping ? facts : nil, done: machine.lanes.map.done) } catch {
            notify(.notice(LocalizableMessage(error)))
        }
    }
}

extension Action { fileprivate var isDrop: Bool { if case .drop = self { true } else { false } } }
