import CPawlSystem
import Glibc
package import PawlCore
import PawlEngine
import PawlSystem

extension FileDisk {
    package func adopt(
        _ name: String,
        in source: String,
        length: Int64,
        as facts: JournalFacts,
        isNamed: Bool,
        to folder: String
    ) throws(Failure) {
        let request = Claim(folder: folder, name: facts.name, ifExists: .rename, facts: facts)
        switch try claim(request, adopts: { _ in false }) {
        case .fresh(let partial):
            guard let descriptor = partial.descriptor else { preconditionFailure("a file has a descriptor") }
            do throws(Failure) {
                try copy(name, in: source, length: length, to: descriptor)
            } catch {
                partial.discard()
                throw error
            }
            let whole = ByteRange(0, length)
            partial.wrote(whole)
            var facts = facts
            facts.name = isNamed ? partial.name : ""
            try partial.close(keeping: facts, done: ByteRangeSet([whole]))
        case .found(let partial, let journal): try partial.close(keeping: journal.facts, done: journal.done)
        case .existing(let partial, _): try partial.restoreOriginal()
        case .skipped: break
        }
    }

    private func copy(_ name: String, in folder: String, length: Int64, to part: Int32) throws(Failure) {
        let path = "\(folder)/\(name)"
        do throws(SystemError) {
            guard let file = try folders.existing(folder)?.open(name, flags: O_RDONLY | O_NONBLOCK) else {
                throw SystemError(number: ENOENT)
            }
            guard try file.status().length >= length else { throw SystemError(number: EIO) }
            try SystemError.check(pawl_copy_data(file.descriptor, part, length))
        } catch {
            throw Failure.system(.cannotOpen, "cannot take over", at: path, error)
        }
    }
}
