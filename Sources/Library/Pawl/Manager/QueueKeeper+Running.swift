#if Queue
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem

// Carries out the machine's decisions and passes engine events to it.
extension QueueKeeper {
    func perform(_ actions: [QueueMachine.Action]) {
        for action in actions {
            switch action {
            case .run(let id): begin(id)
            case .stop(let id):
                if let run = runs[id] {
                    stop(id, run)
                } else if let check = checks.removeValue(forKey: id) {
                    check.cancel()
                    stopped(id)
                }
            case .write(let id, let state):
                edit(id) { record in
                    record.state = state
                    if state == .waiting { record.reopen() }
                }
            case .place(let id, let place):
                edit(id) { record in
                    record.priority = place.priority
                    record.position = place.position
                }
            case .notify(let id, let rest):
                existingHandle(id)?.rested()
                notify(id, .state(rest))
            case .clean(let id): cleanings.append(id)
            }
        }
    }

    // MARK: starting

    func begin(_ id: QueueID) {
        do throws(Failure) {
            guard let record = try record(id) else {
                throw Failure(.unknown, "cannot start", at: id.short, because: "the queue has no record of it")
            }
            if isHindered(record) { return }
            if let length = try publishedLength(record) { return recognize(record, length: length) }
            // Before that is forgotten: its file may be on the disk that is not there.
            if let failure = obstacle(to: record) { throw failure }
            notePublishing(id, false)
            noteLostProgress(of: record)
            let job = try job(for: record)
            if beginCheck(of: record, job) { return }
            let (engineID, box) = engine.add(job)
            runs[id] = Run(engineID: engineID, box: box, record: record)
            ids[engineID] = id
            runs[id]?.stream = try makeStream(of: record, engineID, box)
            replaced.remove(id)
            show(record)
            broadcaster.dispatcher.follow(Download.ID(rawValue: id.rawValue), box)
            noteStart(of: id)
            held.append(engineID)
        } catch { end(id, .failure(error)) }
    }

    /// Starts the runs that are stored, and gives others the URL that is stored now.
    func startStored() {
        held.removeAll { engineID in
            if let id = ids[engineID], changed[id] != nil { return false }
            if let stream = ids[engineID].flatMap({ runs[$0]?.stream }) {
                stream.start()
            } else {
                engine.start(engineID)
            }
            return true
        }
        for id in replaced where changed[id] == nil {
            replaced.remove(id)
            guard let run = runs[id], let address = try? WebAddress.parse(run.record.sources[0]).address else {
                continue
            }
            if run.stream == nil { engine.replaceSource(run.engineID, with: address) } else { restart(id) }
        }
    }

    private func stop(_ id: QueueID, _ run: Run) {
        let isHeld = held.contains(run.engineID)
        held.removeAll { $0 == run.engineID }
        guard let stream = run.stream else { return engine.pause(run.engineID) }
        if isHeld { stopped(id) } else { stream.stop() }
    }

    /// The job of a record; its file gets the claimed name, else the requested one.
    func job(for record: QueueRecord) throws(Failure) -> Job {
        try checkPlace(of: record)
        let stored = StoredOptions(text: record.options)
        var options = stored.options
        options.folder = path(of: record)
        options.mirrors = Array(record.sources.dropFirst())
        options.fileName = record.name ?? options.fileName
        var job = try Job(source: record.sources[0], options: options, settingsCache: settingsCache)
        job.plan.digests += stored.digests.compactMap { text in
            Checksum(text: text).map { ExpectedDigest(inFragment: $0) }
        }
        job.plan.pieces = try pieces(of: record)
        job.plan.isSeeded = stored.isSeeded
        job.formerSources = stored.formerSources
        job.isNameClaimed = record.name != nil && record.name != stored.options.fileName
        if let file = stored.replaced { job.replace(ReplacedFile(file, isWrong: stored.replacedIsWrong)) }
        job.sharesConnections = sharesConnections
        job.plan.endsWithErrorResponse = endsWithErrorResponses
        job.isMeasured = isMeasured
        job.use(hooks, of: Download.ID(rawValue: record.id.rawValue))
        job.plan.replacesAddress = !stored.formerSources.isEmpty
        if stored.detectsStreams { job.plan.otherTypes = Downloader.streamTypes }
        addCertificateJudge(to: &job, of: Download.ID(rawValue: record.id.rawValue))
        addQuestions(to: &job, of: record)
        return job
    }

    /// Lets the program judge certificates, also those of a stream's segments.
    func addCertificateJudge(to job: inout Job, of id: Download.ID) {
        guard let judge else { return }
        job.judge = { question, reply in Task { reply(await judge(id, question)) } }
    }

    /// Lets the engine ask the queue, and the program, while the job runs.
    private func addQuestions(to job: inout Job, of record: QueueRecord) {
        let id = record.id
        if let refreshURL {
            job.plan.canRefresh = true
            job.refresh = { [weak thread] expired, completion in
                Task {
                    let text = await refreshURL(Download.ID(rawValue: id.rawValue), expired.text)
                    let isHeard = thread?.post { keeper in
                        let address = text.flatMap { keeper.refreshed(id, expired.text, to: $0) }
                        // Nothing is requested from it before it is written.
                        keeper.completions.append { _ in completion(address) }
                    }
                    if isHeard != true { completion(nil) }
                }
            }
        }
        let (known, folder) = (record.name, record.folder)
        job.belongsToAnother = { [store] name, file in
            var states: Set<DownloadState> = [.waiting, .paused, .failed]
            if file == .finished { states.insert(.finished) }
            // If the lookup fails, the name is not used.
            return !known.hasSameBytes(as: name)
                && (try? store.isName(name, in: folder, ofOtherThan: id, in: states)) ?? true
        }
        job.onPublishing = { [weak thread] publishing, completion in
            let isHeard = thread?.post { $0.publishing(id, publishing, completion) } ?? false
            if !isHeard { completion(.success(())) }
        }
    }

    func path(of record: QueueRecord) -> String { record.folder.isEmpty ? root : "\(root)/\(record.folder)" }

    func path(of name: String, _ record: QueueRecord) -> String { "\(path(of: record))/\(name)" }

    // MARK: engine events

    func heard(_ report: EngineEvent) {
        guard let id = ids[report.id] else { return heardFromMemory(report) }
        if !report.transfers.isEmpty { collect(report.transfers, of: id) }
        switch report.update {
        case .phase(.paused), .phase(.preempted): stopped(id)
        // The events that follow carry more.
        case .phase(.finished), .phase(.failed): break
        case .phase(let phase):
            if phase == .publishing { perform(machine.publishing(id)) }
            if phase == .waitingForNetwork {
                starts.end(id)
                waitsForNetwork(id)
            }
            if machine.rest(of: id) == nil { notify(id, .state(phase)) }
        case .started(let total, let resumedAt):
            starts.end(id)
            if let response = report.response { noteResponse(response, of: id) }
            edit(id) { record in
                record.name = report.name
                record.total = total
                record.contentType = report.head?.contentType ?? record.contentType
                record.startedAt = record.startedAt ?? ports.clock.wallTime
                notePlace(of: &record)
            }
            completions.append { [broadcaster, response = runs[id]?.response] _ in
                broadcaster.dispatcher.started(Download.ID(rawValue: id.rawValue), total, resumedAt, response)
            }
            relay(report, of: id)
        case .notice: relay(report, of: id)
        case .retrying:
            starts.end(id)
            relay(report, of: id)
        case .finished(let length, let wasThere):
            var file = report.file(length: length, wasThere: wasThere)
            file.response = file.response ?? runs[id]?.response
            // An existing file that is the result is not published.
            runs[id]?.completedSource = report.source
            edit(id) { $0.change { $0.finished = report.stamp } }
            end(id, .success(file))
        case .failed(let failure):
            if !becomesStream(id, after: failure) { end(id, .failure(failure), report.error(failure)) }
        }
    }

    func noteResponse(_ response: DownloadResponse, of id: QueueID) {
        runs[id]?.response = response
        edit(id) { keep(response, in: &$0) }
    }

    func waitsForNetwork(_ id: QueueID) {
        completions.append { [broadcaster] _ in
            broadcaster.dispatcher.waitsForNetwork(Download.ID(rawValue: id.rawValue))
        }
    }

    private func keep(_ response: DownloadResponse, in record: inout QueueRecord) {
        guard keepsResponses else { return }
        record.change { stored in
            stored.response = response.kept
            stored.responseURL = Redaction.address(response.url)
        }
    }

    /// Passes what was measured on, in the order of events.
    func collect(_ transfers: [TransferRecord], of id: QueueID) {
        let metrics = TransferMetrics.list(transfers, clock: ports.clock)
        completions.append { [broadcaster] _ in
            broadcaster.dispatcher.collected(Download.ID(rawValue: id.rawValue), metrics)
        }
    }

    private func relay(_ report: EngineEvent, of id: QueueID) { notify(id, report.kind) }

    func stopped(_ id: QueueID) {
        leave(id)
        forgetDiscarded(id)
        perform(machine.stopped(id))
    }

    /// The engine's run is over: its last state is kept.
    func leave(_ id: QueueID) {
        guard let run = runs[id] else { return }
        let reading = run.box.reading
        runs[id] = nil
        ids[run.engineID] = nil
        starts.end(id)
        notePublishing(id, false)
        engine.forget(run.engineID)
        var record = run.record
        if let name = reading.name {
            record.name = name
            record.written = reading.written
            record.total = reading.total
        }
        if let parts = reading.parts {
            record.change { $0.segments = DownloadSnapshot.Segments(done: parts.done, total: parts.total) }
        }
        put(record)
    }

    // MARK: ends

    func end(_ id: QueueID, _ result: Result<DownloadedFile, Failure>, _ error: PawlError? = nil) {
        if isLeaving(id) { return endRemoved(id, result) }
        let (response, isOutdated) = (runs[id]?.response, runs[id]?.isOutdated ?? false)
        leave(id)
        if case .failure(let failure) = result, !isOutdated, stall(id, after: failure) { return }
        var result = result
        if case .success(let file) = result {
            result = isOutdated ? .failure(changedTooLate(id, file)) : named(id, file)
        }
        switch result {
        case .success(let file):
            endWait(of: id, isFinished: true)
            edit(id) { record in
                // Content in memory has no file, and no name that another file may have.
                record.name = file.path.pathParts().last.map { String($0) }
                record.written = file.length
                record.total = file.length
                record.endedAt = ports.clock.wallTime
                if file.wasThere || file.verification != nil {
                    record.change {
                        $0.wasThere = file.wasThere
                        $0.verification = file.verification
                    }
                }
            }
            perform(machine.ended(id, as: .finished))
            let placed = placed(id, file)
            result = .success(placed)
            notify(id, .state(.finished))
            notify(id, .finished(placed))
        case .failure(let failure):
            forgetDiscarded(id)
            endWait(of: id, isFinished: false)
            edit(id) { record in
                record.endedAt = ports.clock.wallTime
                record.keep(failure)
                // The failure names the changed file: a resumed repair replaces it.
                if failure.code == .fileExists { record.change { $0.replaced = nil } }
                if let response = error?.response { keep(response, in: &record) }
            }
            perform(machine.ended(id, as: .failed))
            notify(id, .state(.failed))
            notify(id, .failed(error ?? PawlError(failure)))
        }
        let outcome = result.mapError { error ?? PawlError($0) }
        completions.append { [handle = existingHandle(id), broadcaster] _ in
            handle?.end(DownloadEvent.Kind(outcome))
            broadcaster.dispatcher.ended(Download.ID(rawValue: id.rawValue), outcome, response)
        }
    }

    /// It ended before it could be stopped.
    private func endRemoved(_ id: QueueID, _ result: Result<DownloadedFile, Failure>) {
        leave(id)
        if case .success(let file) = result { finishRemoved(id, wasThere: file.wasThere) }
        perform(machine.ended(id, as: .removed))
    }

    /// Renames the file if a rename was requested while it was a part file.
    private func named(_ id: QueueID, _ file: DownloadedFile) -> Result<DownloadedFile, Failure> {
        do throws(Failure) {
            guard let record = try record(id), !file.wasThere,
                let newName = StoredOptions(text: record.options).newName,
                let name = file.path.pathParts().last.map(String.init)
            else { return .success(file) }
            let renamed = newName.hasSameBytes(as: name) ? file : try rename(file, of: record, to: newName)
            edit(id) { $0.change { $0.newName = nil } }
            return .success(renamed)
        } catch {
            // The file is complete; only the rename failed.
            notify(id, .notice(DownloadNotice(LocalizableMessage(error))))
            edit(id) { $0.change { $0.newName = nil } }
            return .success(file)
        }
    }
}
#endif
