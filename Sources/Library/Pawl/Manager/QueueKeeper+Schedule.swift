#if Queue
import PawlBase
import PawlEngine
import PawlQueue

// Downloads that are paused until a time.
extension QueueKeeper {
    private static let scheduleName = "scheduled"

    func loadSchedule() throws(Failure) {
        schedule = StartSchedule(text: try store.value(Self.scheduleName) ?? "")
        followSchedule()
    }

    /// Pauses it until a time, in seconds since 1970; `false` if it has finished or is not there.
    func schedule(_ id: QueueID, at time: Int64?) throws(Failure) -> Bool {
        guard let time else { return unschedule(id) }
        if !machine.knows(id) {
            guard try resume(id) else { return false }
        }
        _ = apply(.pause(id, keepsSlot: false))
        schedule.set(id, to: UnixTime(seconds: time))
        noteSchedule(of: [id])
        followSchedule()
        return true
    }

    @discardableResult func unschedule(_ id: QueueID) -> Bool {
        guard schedule.remove(id) else { return false }
        noteSchedule(of: [id])
        followSchedule()
        return true
    }

    func unscheduleAll() {
        noteSchedule(of: schedule.takeAll())
        followSchedule()
    }

    private func noteSchedule(of ids: [QueueID]) {
        guard !ids.isEmpty else { return }
        values[Self.scheduleName] = schedule.text
        for id in ids {
            // Handles show what is written.
            edit(id) { _ in }
            notify(id, .changed)
        }
    }

    /// Starts what is due, and notes when to look again.
    ///
    /// At least every minute: the wall clock may be set, and a machine may sleep.
    func followSchedule() {
        let wall = ports.clock.wallTime
        let due = schedule.takeDue(now: wall)
        noteSchedule(of: due)
        for id in due where machine.rest(of: id) == .paused { _ = apply(.resume(id)) }
        let minute: Int64 = 60
        nextStart = schedule.next.map { next in
            ports.clock.now + .seconds(Double(max(0, min(next.seconds - wall.seconds, minute))))
        }
    }
}

extension DownloadManager {
    /// Whether nothing runs, waits, or starts by itself later: what is left is paused, or has ended.
    package func isIdle() async throws(PawlError) -> Bool {
        try await query { keeper throws(Failure) in
            guard keeper.runs.isEmpty, keeper.checks.isEmpty, keeper.schedule.isEmpty else { return false }
            return try keeper.machine.waitingCount == keeper.totals(DownloadFilter([.paused])).count
        }
    }
}
#endif
