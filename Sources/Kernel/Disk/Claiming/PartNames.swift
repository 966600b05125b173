import PawlBase
import PawlSystem

/// The three names of a download in its folder.
struct PartNames: Hashable, Sendable {
    /// The permissions of a part file, before umask: other users must not write to an unfinished file.
    static let mode: UInt32 = 0o644

    @Bytewise private(set) var final: String
    @Bytewise private(set) var part: String
    @Bytewise private(set) var journal: String
    let form: FileName.PartForm

    init(_ name: String, as form: FileName.PartForm = .usual) {
        final = name
        self.form = form
        part = FileName.partial(of: name, as: form)
        journal = FileName.journal(of: name, as: form)
    }
}

extension Folder {
    /// Gives a part file its final name without its owner attribute; it keeps the attribute where the name is taken.
    ///
    /// The name is on stable storage when this returns: a part file whose journal is removed next would begin anew.
    func restore(_ file: OpenFile, _ names: PartNames) throws(SystemError) {
        let mark = OwnerAttribute.read(file)
        let part = OwnerAttribute.part(of: file)
        OwnerAttribute.remove(from: file)
        do throws(SystemError) { try rename(names.part, to: names.final, replacing: false) } catch {
            if case .of(let value) = mark { _ = try? OwnerAttribute.set(value, part: part, on: file) }
            throw error
        }
        if !traits.contains(.volatile) { try? sync() }
    }
}
