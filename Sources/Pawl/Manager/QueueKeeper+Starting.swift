import PawlCore
import PawlEngine

// What the process dies of at each start is not started for ever.
extension QueueKeeper {
    /// The setting that says what is being started, see ``StartLedger``.
    static let startsName = "starting"

    /// Reads what the last process was starting when it ended, and gives what is not to be started again.
    ///
    /// Where nothing starts by itself, no download can end the process again and again: a program that is killed while it
    /// starts its own says nothing about them.
    func loadStarts() throws(Failure) -> Set<QueueID> {
        guard startsByItself else { return [] }
        let left = try store.setting(Self.startsName)
        writtenStarts = left
        starts = StartLedger(leftBy: left ?? "")
        return Set(starts.suspects)
    }

    /// Keeps in mind that this download is being started.
    func noteStart(of id: QueueID) {
        if startsByItself { starts.begin(id) }
    }

    /// Pauses a download that was being started each time when the process ended.
    func setAside(_ id: QueueID) {
        starts.end(id)
        edit(id) { record in
            guard record.state == .waiting else { return }
            let failure = Failure(
                .unknown,
                "did not start",
                at: Redaction.address(record.sources[0]),
                because:
                    "the program ended \(StartLedger.mostDeaths) times while this download was being started",
                remedy: "resume it to try again, or remove it"
            )
            record.state = .paused
            record.errorCode = Int(failure.code.rawValue)
            record.error = failure.description
        }
    }

    /// What is being started now is written before it starts.
    func noteStarts() {
        guard startsByItself else { return }
        for id in erased { starts.end(id) }
        let text = starts.text
        guard text != writtenStarts ?? "" else { return }
        writtenStarts = text
        settings[Self.startsName] = text
    }
}
