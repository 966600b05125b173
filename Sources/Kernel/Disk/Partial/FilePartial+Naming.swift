import Glibc
import PawlBase
import PawlSystem

// A small file in memory has no name until it is finished, or until it turns out to take long.
extension FilePartial {
    func ensurePartName() {
        // If the name was taken in the meantime, the file stays unnamed and only its final name is checked again.
        try? linkPartName()
    }

    /// Names the part file as a claim would have: locked and marked before another process can see it.
    func linkPartName() throws(Failure) {
        guard !isNamed, let file else { return }
        if names.form == .usual, try attempt.isJournalOthers() { useSpareNames() }
        let attempt = attempt
        guard try attempt.lock(file) else { throw Failure.alreadyDownloading(partPath) }
        do throws(SystemError) { try folder.name(file, names.part) } catch  where error.number == EEXIST {
            throw Failure.alreadyDownloading(partPath)
        } catch { throw Failure.system(.cannotCreate, "cannot create", at: partPath, error) }
        isNamed = true
        do throws(Failure) {
            try attempt.clearOrphan()
            try attempt.mark(file)
        } catch {
            try? folder.remove(names.part)
            isNamed = false
            throw error
        }
    }

    private var attempt: ClaimAttempt {
        ClaimAttempt(disk: disk, folder: folder, claim: claim, number: number, form: names.form)
    }

    /// The claim did not look at the journal's name.
    private func useSpareNames() {
        disk.notice(of: .foreignFile(folder.path(of: names.journal)), "using another name for the part file")
        names = PartNames(names.final, as: .spare)
        disk.unfinished.addSpare(names.final, in: folder)
    }
}
