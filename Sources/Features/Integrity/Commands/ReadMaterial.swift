import Pawl
import PawlBase
import PawlGet
import PawlIntegrity

/// Files that describe others: sums files, Metalinks, zsync control files.
enum ReadMaterial {
    /// The bytes at a path or a URL, or of standard input for `-`; more than `limit` of them are a failure.
    package static func bytes(at place: String, limit: Int, of command: GetOptions) throws(Failure) -> [UInt8] {
        guard isURL(place) else { return try readBytes(at: shown(place), named: PathText.bytes(place), limit: limit) }
        let options = try command.transferOptions()
        let downloader = Downloader(command.connections)
        defer { downloader.shutDownAndWait() }
        do throws(PawlError) { return try downloader.content(of: place, maximumSize: limit, options: options) } catch {
            throw error.failure
        }
    }

    static func isURL(_ place: String) -> Bool { place.contains("://") }

    /// The place for users: a URL without secrets, and a path whose bytes are UTF-8.
    static func shown(_ place: String) -> String { isURL(place) ? Redaction.address(place) : PathText.shown(place) }

    /// Its files may have no sources: they are there, or have others.
    static func metalink(at place: String, of command: GetOptions) throws(Failure) -> Metalink {
        let bytes = try bytes(at: place, limit: 16 << 20, of: command)
        let base = isURL(place) ? try WebAddress.parse(place).address : nil
        do throws(Metalink.Fault) { return try Metalink(bytes, base: base, needsSources: false) } catch {
            throw Failure(.badOption, "cannot use the Metalink", at: shown(place), because: error.words)
        }
    }

    static func zsync(at place: String, of command: GetOptions) throws(Failure) -> ZsyncControl {
        let bytes = try bytes(at: place, limit: ZsyncControl.longest, of: command)
        do throws(ZsyncControl.Fault) { return try ZsyncControl(bytes) } catch {
            throw Failure(.badOption, "cannot use the zsync control file", at: place, because: error.words)
        }
    }
}

extension Metalink {
    /// The entry of the file of that name: with that path's end, or the only one.
    func file(for path: String, isOnly: Bool) -> File? {
        let parts = path.pathParts().map { String($0) }
        let named = files.filter { file in
            Array(parts.suffix(file.folders.count + 1)).hasSameBytes(as: file.folders + [file.name])
        }
        if let longest = named.max(by: { $0.folders.count < $1.folders.count }) { return longest }
        let ofName = files.filter { parts.last.hasSameBytes(as: $0.name) }
        if ofName.count == 1 { return ofName[0] }
        return isOnly && files.count == 1 ? files[0] : nil
    }
}
