import Glibc
import PawlSystem
import Synchronization

/// Runs code on a thread of its own in a new, empty network namespace, which ends with the thread.
package enum NetworkNamespace {
    /// Whether this process may create one and has the tool to configure it.
    package static let isAvailable = geteuid() == 0 && run { shell("ip link set lo up") } == true

    /// The result of `body`; `nil` if no namespace can be created.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let result = Mutex<Value?>(nil)
        SystemThread.start {
            guard enterNewNamespace() else { return }
            let value = body()
            result.withLock { $0 = value }
        }.join()
        return result.withLock { $0 }
    }

    /// Runs a shell command in the calling thread's namespace; whether it succeeded.
    @discardableResult package static func shell(_ command: String) -> Bool {
        unsafe system("( \(command) ) >/dev/null 2>&1") == 0
    }

    /// A pair of connected interfaces, `pawl0` and `pawl1`, both up, without addresses.
    package static let makePair =
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
