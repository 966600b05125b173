import Glibc

/// libFuzzer's entry point, called with each input; `PAWL_FUZZ` names the target.
@_cdecl("LLVMFuzzerTestOneInput") func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
    let began = clock()
    do throws(BrokenLaw) { try chosenTarget.check(bytes) } catch { fatalError("\(chosenTarget.rawValue): \(error)") }
    let seconds = (clock() - began) / 1_000_000
    if seconds >= longestCheck { fatalError("\(chosenTarget.rawValue): it takes \(seconds) s") }
    return 0
}

/// Seconds of CPU: libFuzzer's own limit is one of time that passes, also while other programs have the CPU.
private let longestCheck = 10

private let chosenTarget: FuzzTarget = {
    let name = unsafe getenv("PAWL_FUZZ").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else { fatalError("PAWL_FUZZ names no target: \(name)") }
    return target
}()
