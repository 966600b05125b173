import CPawlSystem
import Glibc
import PawlJournal

/// The journal's first page mapped to memory: a cursor moves by one store, which survives SIGKILL as the page does.
///
/// Belongs to one loop thread.
@safe final class SlotMap {
    private let base: UnsafeMutableRawPointer

    /// Returns `nil` when the file cannot be mapped; then the cursors are written with a system call.
    init?(_ file: OpenFile) {
        let flags = PROT_READ | PROT_WRITE
        let mapped = unsafe mmap(nil, JournalLayout.pageLength, flags, MAP_SHARED, file.descriptor, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { return nil }
        unsafe base = mapped
    }

    deinit { unsafe munmap(base, JournalLayout.pageLength) }

    /// Initializes the slot, with its cursor at its start.
    ///
    /// The order keeps every state that a kill can leave harmless: a cursor of 0 claims nothing.
    func begin(_ slot: JournalSlot) {
        let words = slot.words
        let front = JournalLayout.offset(ofSlot: slot.index)
        store(0, at: slot.wordOffset)
        store(words.start, at: front)
        store(words.incarnation, at: front + 8)
        store(words.check, at: front + 16)
        store(slot.word(at: slot.start), at: slot.wordOffset)
    }

    func advance(_ slot: JournalSlot, to cursor: Int64) { store(slot.word(at: cursor), at: slot.wordOffset) }

    /// Announces a write, or that none is in progress.
    func announce(_ intent: JournalIntent?) {
        store(0, at: JournalIntent.endOffset)
        guard let words = intent?.words else { return }
        store(words.start, at: JournalIntent.startOffset)
        store(words.time, at: JournalIntent.timeOffset)
        store(words.end, at: JournalIntent.endOffset)
    }

    private func store(_ word: UInt64, at offset: Int) { unsafe pawl_store(base + offset, word.littleEndian) }
}
