/// Every parser of untrusted input, each with the laws that must hold for any bytes.
///
/// The raw value names the target on the command line and its folder in `Corpus`.
enum FuzzTarget: String, CaseIterable, Sendable {
    case address
    case aria2
    case chunks
    case contentRange
    case cookie
    case cookies
    case date
    case digestFields
    case disposition
    case frames
    case handshake
    case head
    case hosts
    case hub
    case inflate
    case inputFile
    case intake
    case journal
    case jobs
    case json
    case keys
    case link
    case listings
    case metalink
    case mpd
    case login
    case naming
    case netlink
    case netrc
    case objects
    case options
    case output
    case pieces
    case playlists
    case proxy
    case quantities
    case rateLimit
    case redaction
    case registry
    case requests
    case responses
    case resumeData
    case retryAfter
    case robots
    case secureHosts
    case segments
    case signatures
    case socks
    case starts
    case sums
    case torrents
    case transfers
    case tunnel
    case zsync

    /// Feeds the parser; a broken law is thrown, a trap or a hang is left to the caller.
    func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        var input = FuzzInput(bytes)
        switch self {
        case .address: try AddressLaws.check(&input)
        case .aria2: try Aria2Laws.check(&input)
        case .chunks: try ChunkLaws.check(&input)
        case .contentRange: try ContentRangeLaws.check(&input)
        case .cookie: try CookieLaws.check(&input)
        case .cookies: try CookieJarLaws.check(&input)
        case .date: try DateLaws.check(&input)
        case .digestFields: try DigestFieldLaws.check(&input)
        case .disposition: try DispositionLaws.check(&input)
        case .frames: try FrameLaws.check(&input)
        case .handshake: try HandshakeLaws.check(&input)
        case .head: try HeadLaws.check(&input)
        case .hosts: try HostTableLaws.check(&input)
        case .hub: try HubLaws.check(&input)
        case .inflate: try InflateLaws.check(&input)
        case .inputFile: try InputFileLaws.check(&input)
        case .intake: try IntakeLaws.check(&input)
        case .journal: try JournalLaws.check(&input)
        case .jobs: try JobLaws.check(&input)
        case .json: try JSONLaws.check(&input)
        case .keys: try KeyLaws.check(&input)
        case .link: try LinkLaws.check(&input)
        case .listings: try ListingLaws.check(&input)
        case .metalink: try MetalinkLaws.check(&input)
        case .mpd: try MPDLaws.check(&input)
        case .login: try LoginLaws.check(&input)
        case .naming: try NamingLaws.check(&input)
        case .netlink: try NetlinkLaws.check(&input)
        case .netrc: try NetrcLaws.check(&input)
        case .objects: try ObjectLaws.check(&input)
        case .options: try OptionLaws.check(&input)
        case .output: try OutputLaws.check(&input)
        case .pieces: try PieceHashLaws.check(&input)
        case .playlists: try PlaylistLaws.check(&input)
        case .proxy: try ProxyLaws.check(&input)
        case .quantities: try QuantityLaws.check(&input)
        case .rateLimit: try RateLimitLaws.check(&input)
        case .redaction: try RedactionLaws.check(&input)
        case .registry: try RegistryLaws.check(&input)
        case .requests: try RequestLaws.check(&input)
        case .responses: try ResponseLaws.check(&input)
        case .resumeData: try ResumeDataLaws.check(&input)
        case .retryAfter: try RetryAfterLaws.check(&input)
        case .robots: try RobotsLaws.check(&input)
        case .secureHosts: try SecureHostsLaws.check(&input)
        case .segments: try SegmentLaws.check(&input)
        case .signatures: try SignatureLaws.check(&input)
        case .socks: try SocksLaws.check(&input)
        case .starts: try StartLedgerLaws.check(&input)
        case .sums: try SumsFileLaws.check(&input)
        case .torrents: try TorrentLaws.check(&input)
        case .transfers: try TransferLaws.check(&input)
        case .tunnel: try TunnelLaws.check(&input)
        case .zsync: try ZsyncLaws.check(&input)
        }
    }
}

/// A law broken by the input, as a sentence.
struct BrokenLaw: Error, CustomStringConvertible { var description: String }

/// Throws unless `condition` holds.
func hold(_ condition: Bool, _ law: @autoclosure () -> String) throws(BrokenLaw) {
    if !condition { throw BrokenLaw(description: law()) }
}
