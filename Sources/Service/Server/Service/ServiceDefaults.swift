package import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// The options of later downloads for which a request gives none, as set on the page; the queue keeps them.
package final class ServiceDefaults: Sendable {
    /// Their names, in the order in which they are shown.
    static let names = [
        "connections", "limit-rate", "retries", "retry-delay", "timeout", "if-exists", "user-agent", "proxy",
        "no-proxy",
    ]

    private let state = Mutex(DownloadOptions())

    package init() {}

    package var options: DownloadOptions { state.withLock { $0 } }

    private static let place = "defaults"

    /// Restores those of an earlier service; a value that is not understood or not allowed is left out.
    func load(from manager: DownloadManager, log: ServiceLog?) async {
        state.withLock { $0 = DownloadOptions() }
        let text: String?
        do throws(PawlError) { text = try await manager.keptText(ServiceDefaults.place) } catch {
            log?.note(error.failure)
            return
        }
        guard let text, let kept = try? JSON.parse(Array(text.utf8)) else { return }
        let options = ServiceDefaults.options(kept)
        state.withLock { $0 = options }
    }

    static func options(_ kept: JSON) -> DownloadOptions {
        var options = DownloadOptions()
        for member in kept["options"]?.members ?? [] where ServiceDefaults.names.contains(member.name) {
            var more = options
            guard let value = member.value.string, (try? more.take([(name: member.name, value: value)])) != nil,
                (try? DownloadOption.check(more)) != nil
            else { continue }
            options = more
        }
        if let folder = kept["folder"]?.string { options.folder = folder }
        return options
    }

    /// Replaces them; throws code 28 for an invalid value.
    func change(_ members: [JSON.Member], folder: String?, in manager: DownloadManager) async throws {
        var options = DownloadOptions()
        for member in members {
            guard ServiceDefaults.names.contains(member.name) else {
                throw RPCError.invalid("there is no setting \(member.name)")
            }
            guard let value = member.value.string else {
                throw RPCError.invalid("the setting \(member.name) must be a string")
            }
            if value.isEmpty { continue }
            do throws(Failure) { try options.take([(name: member.name, value: value)]) } catch {
                throw PawlError(error)
            }
        }
        do throws(Failure) { try DownloadOption.check(options) } catch { throw PawlError(error) }
        if let folder, !folder.isEmpty { options.folder = try DownloadRequest.checkedFolder(folder) }
        try await manager.keep(ServiceDefaults.json(options).text, as: ServiceDefaults.place) { [self, options] in
            state.withLock { $0 = options }
        }
    }

    var json: JSON { ServiceDefaults.json(options) }

    private static func json(_ options: DownloadOptions) -> JSON {
        let plain = DownloadOptions()
        let members = names.compactMap { name -> JSON.Member? in
            guard let option = DownloadOption.named[name], let text = option.texts(of: options).first,
                option.texts(of: options) != option.texts(of: plain)
            else { return nil }
            return JSON.Member(name, .string(text))
        }
        let folder = options.folder.hasSameBytes(as: plain.folder) ? "" : options.folder
        return ["options": .object(members), "folder": .string(folder)]
    }
}
