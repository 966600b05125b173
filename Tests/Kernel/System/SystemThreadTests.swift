import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@Suite struct SystemThreadTests {
    @Test func `a thread has the first 15 bytes of its name`() {
        let name = Mutex<[UInt8]>([])
        SystemThread.start("pawl-with-a-long-name") {
            let file = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(file, &bytes, bytes.count)
            name.withLock { $0 = Array(bytes.prefix(max(0, count))) }
        }.join()
        #expect(name.withLock { String(decoding: $0, as: UTF8.self) } == "pawl-with-a-lon\n")
    }

    @Test func `a thread that blocks signals takes only those of its own faults`() {
        let mask = Mutex(Self.mask())
        let before = Self.mask()
        SystemThread.start(blocksSignals: true) { mask.withLock { $0 = Self.mask() } }.join()
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE] {
            #expect(Self.blocks(number, in: mask.withLock { $0 }), "signal \(number)")
            #expect(Self.blocks(number, in: Self.mask()) == Self.blocks(number, in: before))
        }
        for number in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] {
            #expect(!Self.blocks(number, in: mask.withLock { $0 }), "signal \(number)")
        }
    }

    @Test func `a thread knows itself`() {
        let isCurrent = Mutex<[Bool]>([])
        let thread = Monitor<SystemThread?>(nil)
        let started = SystemThread.start {
            guard let own = thread.wait(until: nil, for: { $0 }) else { return }
            isCurrent.withLock { $0 = [own.isCurrent] }
        }
        thread.with { $0 = started }
        #expect(!started.isCurrent)
        started.join()
        #expect(isCurrent.withLock { $0 } == [true])
    }

    @Test func `a monitor's wait ends with a value, or without one at its deadline`() {
        let count = Monitor(0)
        let reader = SystemThread.start {
            _ = count.wait(until: nil) { count in
                guard count == 1 else { return nil as Bool? }
                count = 2
                return true
            }
        }
        count.with { $0 = 1 }
        reader.join()
        #expect(count.read { $0 } == 2)
        #expect(count.wait(until: SystemClock().now) { $0 == 3 ? true : nil } == nil)
    }

    @Test(arguments: [Instant.past, Instant(nanoseconds: -1), Instant(nanoseconds: 0)])
    func `a wait until a time before every other ends at once`(deadline: Instant) {
        let count = Monitor(0)
        #expect(count.wait(until: deadline) { $0 == 1 ? true : nil } == nil)
        #expect(count.wait(until: deadline) { $0 == 0 ? true : nil } == true)
    }

    private static func mask() -> sigset_t {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }

    private static func blocks(_ number: Int32, in mask: sigset_t) -> Bool {
        var mask = mask
        return unsafe sigismember(&mask, number) == 1
    }
}
