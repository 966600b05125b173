#if Queue
import PawlBase
import PawlQueue

// A download that crashes the process at each start is not started forever.
extension QueueKeeper {
    /// The name of the stored value with the downloads being started, see ``StartLedger``.
    static let startsName = "starting"

    /// Reads which downloads the previous process was starting when it ended, and returns those not to start
    /// again.
    ///
    /// Without automatic starts no download can end the process repeatedly: a program that is killed while it
    /// starts its own says nothing about them.
    func loadStarts() throws(Failure) -> Set<QueueID> {
        guard startsByItself else { return [] }
        let left = try store.value(Self.startsName)
        writtenStarts = left
        starts = StartLedger(leftBy: left ?? "")
        return Set(starts.suspects)
    }

    /// Records that this download is being started.
    func noteStart(of id: QueueID) { if startsByItself { starts.begin(id) } }

    /// Pauses a download whose starts coincided with the ends of the process.
    func setAside(_ id: QueueID) {
        starts.end(id)
        edit(id) { record in
            guard record.state == .waiting else { return }
            let failure = Failure(
                .unknown, "did not start", at: Redaction.address(record.sources[0]),
                because: LocalizableMessage(
                    "program-ended-while-starting",
                    "the program ended \(StartLedger.mostDeaths) times while this download was being started"),
                remedy: "resume it to try again, or remove it")
            record.state = .paused
            record.keep(failure)
        }
    }

    /// The downloads being started are written before they start.
    func noteStarts() {
        guard startsByItself else { return }
        for id in erased { starts.end(id) }
        let text = starts.text
        guard text != writtenStarts ?? "" else { return }
        writtenStarts = text
        values[Self.startsName] = text
    }
}
#endif
