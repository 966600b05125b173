import Pawl
import PawlBase
import PawlCore
import PawlEngine

// FTP servers.
extension Scenario {
    private static let fileHost = "ftp.test"

    /// Moves the file of some downloads to an FTP server: no tag, a date or none, a length or none, offsets or none.
    ///
    /// Drawn apart, so that other worlds do not depend on it.
    mutating func serveByFTP(_ download: inout Download) {
        var luck = Dice(seed: seed &* 521 &+ UInt64(downloads.count))
        let plan = download.job.plan
        guard luck.chance(0.08), plan.sources.count == 1, download.seeding == nil, plan.pieces == nil,
            case let host = plan.sources[0].host, var server = servers[host], var file = server.files[download.path],
            file.hops.isEmpty, file.tokenLife == nil, file.coded == nil, file.breaksAfter == nil, !file.isRemade
        else { return }
        servers[host]?.files[download.path] = nil
        file.fileServer = .init(refusesOffsets: luck.chance(0.2))
        file.ranges = .honoured
        file.entityTag = nil
        file.renewsTag = false
        file.mayBeAPage = false
        if luck.chance(0.3) { file.lastModified = nil }
        file.statesLength = luck.chance(0.7)
        server.files = servers[Self.fileHost]?.files ?? [:]
        server.files[download.path] = file
        servers[Self.fileHost] = server
        download.job.plan.sources = [
            WebAddress(scheme: .ftp, host: Self.fileHost, port: 21, path: download.path, query: nil)
        ]
        download.canFinish = download.canFinish && Self.canSend(plan.selection, of: file)
    }

    /// Whether the server has what the requested part needs: an offset, and the length for the last bytes.
    private static func canSend(_ selection: RequestedRange, of file: SimulatedFile) -> Bool {
        switch selection {
        case .whole: true
        case .from, .closed: file.fileServer?.refusesOffsets == false
        case .suffix: file.fileServer?.refusesOffsets == false && file.statesLength
        }
    }
}
