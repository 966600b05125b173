package import PawlBase
import PawlDisk
package import PawlEngine
import PawlHTTP
import PawlReach
import PawlSystem

#if Features
import PawlCurl
#endif

extension Ports {
    /// This machine's clock, disk, network and threads; `notice` receives notices that belong to no single
    /// download.
    ///
    /// `trace` receives every request and response, and `onCookies` the cookies of each origin, on the threads of the
    /// transports.
    package static func system(
        over transport: DownloadTransport = .network, numbering: FileName.Numbering = .parenthesized,
        recognizesFinished: Bool = true,
        trace: (@Sendable (TransferTrace) -> Void)? = nil, onCookies: CookieReceiver? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) -> Ports {
        let clock = transport.time?.clock ?? SystemClock()
        #if Features
        let others: (any TransportMaker)? = CurlTransports(clock: clock)
        #else
        let others: (any TransportMaker)? = nil
        #endif
        let reachability: any Reachability = transport.servers == nil ? SystemReachability() : AssumedNetwork()
        var ports = Ports(
            clock: clock, disk: FileDisk(numbering: numbering, recognizesFinished: recognizesFinished, notice: notice),
            reachability: reachability, threads: SystemThreads(),
            pollers: transport.time?.pollers ?? EpollPollers(clock: clock),
            transports: HTTPTransports(
                clock: clock, preparers: Features.preparers, trace: trace, onCookies: onCookies,
                servers: transport.servers, others: others))
        ports.digestFinder = Features.digestFinder
        ports.descriptors = SystemDescriptors()
        ports.charsets = .system
        return ports
    }
}

extension CharsetDecoder {
    /// With the charsets of the C library, as far as its modules are installed.
    package static let system = CharsetDecoder(convert: SystemCharsets.utf8)
}

extension DownloadOptions {
    /// These options, for content in memory that is compared or checked by other means.
    func unverified() -> DownloadOptions {
        var options = self
        options.checksum = nil
        options.verification = .off
        return options
    }

    /// These options, for bytes that are delivered in order, all of them or the rest after a position.
    func forStream(isContinued: Bool) throws(PawlError) -> DownloadOptions {
        guard !isContinued || checksum == nil else {
            throw PawlError(
                Failure(
                    .badOption, "cannot use", at: "a checksum",
                    because: "the bytes before the stream continues are not received again"))
        }
        var options = isContinued ? unverified() : self
        options.fileName = nil
        options.naming = .server
        return options
    }

    /// Sets the folder and the name: `path` is relative to the folder unless it begins with `/`.
    mutating func place(at path: String) throws(PawlError) {
        guard let name = path.pathParts(keepsEmpty: true).last, !name.isEmpty else {
            throw PawlError(
                Failure(
                    .badOption, "cannot write", at: path.isEmpty ? "an empty path" : path,
                    because: "it is not the path of a file"))
        }
        // In bytes: letters may have several, and a combining mark is one character with the slash before it.
        let parent = String(Substring(path.utf8.dropLast(name.utf8.count + 1)))
        if path.isAbsolutePath {
            folder = parent.isEmpty ? "/" : parent
        } else if !parent.isEmpty {
            folder += "/" + parent
        }
        fileName = String(name)
    }
}
