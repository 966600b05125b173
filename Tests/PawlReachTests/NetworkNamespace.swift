import Glibc
import PawlSystem
import PawlTestKit
import Synchronization

/// Runs code on a thread of its own in a new, empty network namespace, which ends with the thread.
enum NetworkNamespace {
    /// Whether this process may create one and has the tool to configure it.
    static let isAvailable = geteuid() == 0 && run { shell("ip link set lo up") } == true

    /// The result of `body`; `nil` if no namespace can be created.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let result = Mutex<Value?>(nil)
        SystemThread.start {
            guard enterNewNamespace() else { return }
            let value = body()
            result.withLock { $0 = value }
        }.join()
        return result.withLock { $0 }
    }

    /// Runs a shell command in the calling thread's namespace; whether it succeeded.
    @discardableResult
    static func shell(_ command: String) -> Bool { unsafe system("( \(command) ) >/dev/null 2>&1") == 0 }

    /// A pair of connected interfaces, `pawl0` and `pawl1`, both up, without addresses.
    static let makePair =
        "ip link add pawl0 type veth peer name pawl1 && ip link set pawl0 up && ip link set pawl1 up"

    /// unshare(2), which the C library's module does not expose to Swift.
    private static func enterNewNamespace() -> Bool {
        let newNetwork: CInt = 0x4000_0000
        guard let library = unsafe dlopen(nil, RTLD_NOW), let symbol = unsafe dlsym(library, "unshare") else {
            return false
        }
        typealias Unshare = @convention(c) (CInt) -> CInt
        return unsafe unsafeBitCast(symbol, to: Unshare.self)(newNetwork) == 0
    }
}

/// The changes reported to a handler, in order, to be waited for.
final class Announcements: Sendable {
    private let ends: (read: CInt, write: CInt)

    init() {
        var pair: [CInt] = [-1, -1]
        unsafe socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &pair)
        ends = (pair[0], pair[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func add(_ isOnline: Bool) {
        var byte: UInt8 = isOnline ? 1 : 0
        unsafe write(ends.write, &byte, 1)
    }

    /// The next one; `nil` after a timeout long enough that none will come.
    func next() -> Bool? { next(within: 30_000) }

    /// The next one if it has arrived already.
    func pending() -> Bool? { next(within: 0) }

    private func next(within milliseconds: CInt) -> Bool? {
        var wait = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wait, 1, milliseconds) == 1 else { return nil }
        var byte: UInt8 = 0
        guard unsafe read(ends.read, &byte, 1) == 1 else { return nil }
        return byte == 1
    }
}
