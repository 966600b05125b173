import Glibc

/// A `NETLINK_ROUTE` socket of the calling thread's network namespace, closed with its owner.
struct NetlinkSocket: ~Copyable {
    let descriptor: CInt

    /// The notifications to subscribe to, as bits of `nl_groups`: links, addresses and routes of both families.
    static let networkChanges: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    /// Opens a socket subscribed to `groups`; `nil` where the system does not allow it.
    init?(groups: UInt32 = 0) {
        let netlink: CInt = 16
        let routeProtocol: CInt = 0
        let kind = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let opened = socket(netlink, kind, routeProtocol)
        guard opened >= 0 else { return nil }
        // `struct sockaddr_nl`: family, padding, port (0: the kernel chooses), groups.
        var address: [UInt8] = []
        address.append(number: UInt16(netlink))
        address.append(number: UInt16(0))
        address.append(number: UInt32(0))
        address.append(number: groups)
        let bound = unsafe address.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return CInt(-1) }
            return unsafe bind(opened, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard bound == 0 else {
            close(opened)
            return nil
        }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { raw in unsafe Glibc.send(descriptor, raw.baseAddress, raw.count, 0) == raw.count
        }
    }

    /// The result of waiting for a datagram.
    enum Reception {
        case datagram(ArraySlice<UInt8>)
        /// Nothing is available (only with `waiting: false`).
        case nothing
        /// The kernel dropped notifications because the buffer was full (`ENOBUFS`).
        case overflow
        case failed
    }

    func receive(into buffer: inout [UInt8], waiting: Bool) -> Reception {
        let flags = waiting ? 0 : CInt(MSG_DONTWAIT)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { raw in
                unsafe recv(descriptor, raw.baseAddress, raw.count, flags)
            }
            if count > 0 { return .datagram(buffer.prefix(count)) }
            if count == 0 { return .failed }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .nothing
            case ENOBUFS: return .overflow
            default: return .failed
            }
        }
    }

    /// A dump's datagrams are at most this long.
    static let bufferLength = 32 * 1024
}
