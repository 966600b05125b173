import Pawl
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem
import Synchronization

// The checks of the laws.
extension Simulation {
    func hear(_ beat: Timeline.Beat) {
        switch beat {
        case .event(let number):
            checkLadder()
            for incident in scenario.atEvents[number] ?? [] { perform(incident) }
        case .instant:
            world.network.instantEnds()
            checkInstant()
            checkHosts()
        }
    }

    func hear(_ report: EngineEvent) {
        guard !state.withLock({ $0.isDead }), let index = index(of: report.id) else { return }
        noteReport(report, of: index)
        course(index) { if !report.name.isEmpty { $0.name = report.name } }
        switch report.update {
        case .phase(let phase): entered(phase, index)
        case .failed(let failure): failed(failure, index)
        case .finished(_, let wasThere): finished(report, wasThere: wasThere, index)
        case .retrying(let failure, _): note("retries: \(failure.code.word)")
        case .notice(let text):
            note(Self.verdict(text.description))
            // A server without ranges sends all of it for a comparison.
            if text.description.contains("sends only the whole file") {
                course(index) { $0.comparesAll = true }
                noteWholeComparison(index)
            }
        case .started: break
        }
        world.timeline.note("\(index): \(report.update)")
    }

    private static func verdict(_ text: String) -> String {
        if text.contains("on disk is wrong: fetching it again") { return "pieces on disk fetched again" }
        if text.contains("is wrong: fetching it again") { return "pieces of a source fetched again" }
        if text.contains("wrong pieces") { return "verdict: left out for wrong pieces" }
        let known = [
            "the content changed", "left out a source", "left out", "continuing without ranges",
            "continuing with one connection", "the redirect's target",
        ]
        if let kind = known.first(where: text.contains) {
            return "verdict: \(kind)" + (kind.hasSuffix("target") ? " expired" : "")
        }
        if text.contains("bytes on disk are of another range") { return "verdict: another part" }
        if text.contains("different ETag") { return "verdict: tags vary" }
        if text.contains("compared") { return "comparisons that agreed" }
        if text.contains("started over") { return "verdict: started over from 0" }
        return text.contains("no response to a request with Range")
            ? "verdict: no response to a range" : "other notices"
    }

    private func entered(_ phase: DownloadState, _ index: Int) {
        if phase == .preempted { note("preempted") }
        course(index) { course in
            course.phase = phase
            course.waitsSince = phase == .waitingForNetwork ? course.waitsSince ?? world.clock.now : nil
            switch phase {
            case .publishing, .paused, .finished, .failed, .removed: course.isWanted = false
            case .waiting, .waitingForDisk, .probing, .transferring, .waitingForNetwork, .verifying, .preempted: break
            }
        }
    }

    private func failed(_ failure: Failure, _ index: Int) {
        note("failed: \(failure.code.word)")
        if failure.code == .checksumMismatch, scenario.downloads[index].job.plan.given.count > 1 {
            note("failed: one of several digests")
        }
        notePieceFailure(failure, index)
        let run = course(index) { course in
            course.failure = failure
            return course.run
        }
        let retried: [Failure.Code] = [.timeout, .network, .nameResolution, .overloaded]
        let most = scenario.downloads[index].job.plan.retry.retries
        let (idle, total) = (run?.idleRetries ?? 0, run?.retries ?? 0)
        if retried.contains(failure.code), let text = Law.patience(idle: idle, total: total, of: most) {
            violate(.patience, "\(index): \(text): \(failure)")
        }
        checkReason(failure, index)
        guard sabotage == .restartsFailed else { return }
        world.timeline.after(.milliseconds(1)) { [weak self] in self?.resume(index) }
    }

    private func finished(_ report: EngineEvent, wasThere: Bool, _ index: Int) {
        note(wasThere ? "already complete" : "published")
        let selection = job(index).plan.selection
        let isAgain = course(index) { course in
            defer { course.isFinished = true }
            course.isTold = true
            if !wasThere { (course.published, course.publishedSelection) = (report.path, selection) }
            return course.isFinished
        }
        if isAgain { violate(.published, "\(index) was declared finished twice") }
        if wasThere { checkKept(index, report.path) } else { checkPublished(index, report.path) }
        if scenario.sharesNames, report.path.hasSuffix(" (1).bin") { note("names claimed by two downloads") }
        checkTraffic(index)
    }

    private func checkPublished(_ index: Int, _ path: String) {
        let download = scenario.downloads[index]
        guard let file = world.disk.finished(path) else {
            return violate(.published, "\(index): there is no file at \(path)")
        }
        checkDigest(file.bytes, index)
        checkPieces(file.bytes, index)
        // A file of the right length is taken for complete: the user vouches for the bytes that were written.
        if let existing = download.existing, existing == file.bytes, download.hole == nil { return }
        // Dates that lie: a kill may come between the last byte and the comparison where two connections met.
        if state.withLock({ $0.lives }) > 0, download.job.plan.sources.contains(where: { isFrozen($0, download) }) {
            return
        }
        let selection = course(index) { $0.publishedSelection } ?? job(index).plan.selection
        let versions = versions(of: download, selection)
        if let text = Law.published(file.bytes, of: versions, selection: selection) {
            violate(.published, "\(index): \(text)")
        }
    }

    private func isFrozen(_ source: WebAddress, _ download: Scenario.Download) -> Bool {
        let file = scenario.servers[source.host]?.files[download.path]
        return file.map { $0.isRemade && $0.dates == .old } ?? false
    }

    /// The versions of which this part may be: no part of a coded body is one of the content.
    private func versions(of download: Scenario.Download, _ selection: RequestedRange) -> [Payload] {
        let coded = download.job.plan.sources.compactMap { scenario.servers[$0.host]?.files[download.path]?.coded }
        return world.network.versions(of: download.path).filter { selection == .whole || !coded.contains($0) }
    }

    /// The contents that may be written to the file of that URL.
    func versions(of source: String) -> [FakeDisk.Version] {
        guard let index = self.index(ofSource: source) else { return [] }
        let selection = job(index).plan.selection
        return versions(of: scenario.downloads[index], selection).map { payload in
            FakeDisk.Version(payload, start: selection.part(of: payload.length).start)
        }
    }

    private func index(ofSource source: String) -> Int? {
        scenario.downloads.firstIndex { $0.job.plan.sources.contains { $0.text == source } }
    }

    private func checkLadder() {
        world.disk.checkLadder { source in
            guard let index = self.index(ofSource: source), isWhole(index) else { return nil }
            return world.network.received(scenario.downloads[index].path)
        }
    }

    private func checkInstant() {
        let (courses, slots, isOver, upSince) = state.withLock {
            ($0.courses, $0.slots, $0.isDead || $0.isClosing, $0.upSince)
        }
        guard !isOver else { return }
        let now = world.clock.now
        var running = 0
        var verifying = 0
        var waiting = 0
        for (index, course) in courses.enumerated() {
            if course.isRunning { running += 1 }
            // A file that is being verified is not stopped, and needs no network.
            if course.phase == .verifying { verifying += 1 }
            if course.isWanted, !course.isRunning, !course.isPaused { waiting += 1 }
            if let text = Law.reached(upSince: upSince, waitsSince: course.waitsSince, now: now) {
                violate(.reached, "\(index) \(text)")
            }
            switch course.phase {
            case .probing, .transferring, .waitingForNetwork:
                if course.isPaused { violate(.paused, "\(index) is \(course.phase)") }
            case .waiting, .waitingForDisk, .verifying, .publishing, .paused, .preempted, .finished, .failed, .removed:
                break
            }
        }
        if let text = Law.slots(running: running - verifying, of: slots) { violate(.slots, text) }
        if let text = Law.idle(running: running, waiting: waiting, of: slots) { violate(.idle, text) }
    }

    func took(_ range: ByteRange, of path: String) {
        guard let index = scenario.downloads.firstIndex(where: { $0.path == path }), isWhole(index) else { return }
        let name = course(index) { $0.name }
        let again = world.disk.keptBefore(Scenario.folder + "/" + name, in: range)
        if again > 0 { course(index) { $0.again += again } }
    }

    /// Whether its file's offsets equal the resource's, in every process.
    private func isWhole(_ index: Int) -> Bool {
        let download = scenario.downloads[index]
        return download.job.plan.selection == .whole && download.nextSelection ?? .whole == .whole
    }

    /// Handles the end of a process, however it ended.
    func checkLife() {
        if world.disk.openPartials > 0 { violate(.tidiness, "\(world.disk.openPartials) partials are open") }
        if world.network.open > 0 { violate(.tidiness, "\(world.network.open) connections are open") }
        for (index, course) in state.withLock({ $0.courses }).enumerated() {
            // An existing file is not an earlier run's, and is compared at three places.
            let isExempt = course.comparesAll || scenario.downloads[index].existing != nil
            let again = course.again - course.repeated
            if !isExempt, let text = Law.onceOnly(again: again, requests: course.requests) {
                violate(.onceOnly, "\(index): \(text)")
            }
            // A look into the folder shows the file, whether or not it could still be reported. Another download may have the
            // name by now.
            let path = Scenario.folder + "/" + course.name
            guard course.published == nil, scenario.downloads[index].existing == nil, !course.name.isEmpty,
                let source = world.disk.source(ofFinished: path), self.index(ofSource: source) == index,
                !world.disk.isUnfinished(path)
            else { continue }
            note("published and never reported")
            let selection = job(index).plan.selection
            self.course(index) { course in
                (course.published, course.publishedSelection) = (path, selection)
                course.isFinished = true
            }
        }
    }

    /// Checks the end of the scenario.
    func checkEnd() {
        guard !world.timeline.isOverdue else { return }
        for (index, course) in state.withLock({ $0.courses }).enumerated() {
            if let path = course.published {
                checkPublished(index, path)
                if world.disk.isUnfinished(path) { violate(.tidiness, "\(path) still has a part file") }
            }
            guard !course.isRemoved, !course.isPaused, !course.isFinished, scenario.downloads[index].canFinish else {
                continue
            }
            let failure = course.failure?.description ?? "no reason"
            violate(.finishes, "\(index) is \(course.phase): \(failure)")
        }
    }

    /// Checks that the published file has each given digest.
    func checkDigest(_ bytes: [UInt8], _ index: Int) {
        let given = scenario.downloads[index].job.plan.given
        if given.count > 1 { note("files published with several digests") }
        for found in FakeDigest.checksums(given.algorithms, of: bytes) {
            let others = given.map(\.checksum).filter { $0.algorithm == found.algorithm && $0 != found }
            if let wanted = others.first { violate(.digest, "\(index): \(found.text) instead of \(wanted.text)") }
        }
    }
}

extension Failure.Code {
    /// The name in a tally.
    var word: String {
        switch self {
        case .timeout: "timeout"
        case .notFound: "not found"
        case .tooSlow: "too slow"
        case .network: "network"
        case .cannotResume: "cannot resume"
        case .diskFull: "disk full"
        case .inputOutput: "input or output"
        case .badResponse: "bad response"
        case .authorization: "authorization"
        case .overloaded: "overloaded"
        case .checksumMismatch: "checksum"
        case let code: "code \(code.rawValue)"
        }
    }
}
