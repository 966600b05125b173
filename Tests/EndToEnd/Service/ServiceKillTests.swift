import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// SIGKILL while 64 downloads run, hundreds wait and clients call.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The service killed under load`
{
    private static let slots = 64

    /// The requests and responses of clients.
    private struct Ledger {
        var sent = 0
        /// Numbers of the downloads whose names were returned.
        var acknowledged: Set<Int> = []
        /// Responses during this run of the service while every slot was in use.
        var busyResponses = 0
    }

    private let house: ServiceHouse
    private let ledger = Monitor(Ledger())

    init() throws { house = try ServiceHouse() }

    private static func content(_ number: Int) -> Payload { Payload(seed: UInt64(number), length: 40_000) }

    private static func gid(_ number: Int) -> String {
        let digits = String(number + 1, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    @Test func `acknowledged downloads are there exactly once, and every file is correct`() throws {
        var dice = Dice(seed: 0x9A31)
        for _ in 1...4 {
            let service = try start()
            ledger.with { $0.busyResponses = 0 }
            let callers = (1...2).map { _ in SystemThread.start { while (try? call()) == true {} } }
            let wanted = 1 + Int(dice.next() % 10)
            let isBusy = ledger.wait(atMost: .seconds(300)) { $0.busyResponses >= wanted ? true : nil } ?? false
            service.send(SIGKILL)
            #expect(service.wait() == .signal(SIGKILL))
            for caller in callers { caller.join() }
            try #require(isBusy)
        }
        let sent = ledger.read(\.sent)
        for number in 0..<sent { house.origin.adjust("/\(number)") { $0.pace = nil } }
        let service = try start()
        // A download that was being started at two of the kills waits for a resume.
        try house.run("resume", "--all")
        let wait = try house.start("wait", "--all")
        #expect(wait.wait(atMost: .seconds(600)) == .code(0), "\(wait.errors)")
        try check(sent: sent)
        try house.run("stop")
        #expect(service.wait() == .code(0))
    }

    /// A child process, so that its end can be waited for: until then its locks are held.
    private func start() throws -> PawlProcess {
        let service = try house.start("serve", "--jobs", "\(Self.slots)")
        let line = service.line(in: .err, atMost: .patience) { $0.contains("serving") }
        try #require(line != nil, "\(service.errors)")
        return service
    }

    private func check(sent: Int) throws {
        let rows = try house.ask("list")
        let ids = rows.compactMap { $0["id"]?.string }
        #expect(Set(ids).count == ids.count)
        let acknowledged = ledger.read(\.acknowledged)
        #expect(acknowledged.count > 2 * Self.slots)
        #expect(Set(acknowledged.map(Self.gid)).isSubset(of: ids))
        // Requests in flight at the kill may or may not have been executed.
        #expect(Set(ids).isSubset(of: (0..<sent).map(Self.gid)))
        var names: Set<String> = [".pawl"]
        for row in rows {
            #expect(row["state"]?.string == "finished")
            let number = try #require(row["id"]?.string.flatMap { Int($0, radix: 16) }) - 1
            names.insert("f\(number)")
            #expect(row["name"]?.string == "f\(number)")
            #expect(house.difference("f\(number)", from: Self.content(number)) == nil)
        }
        #expect(Set(FileSystem.names(in: house.folder.path("root"))) == names)
    }

    /// One batch: some new downloads, and other client calls; `false` without a complete response.
    private func call() throws -> Bool {
        let numbers = ledger.with { ledger in
            defer { ledger.sent += 4 }
            return ledger.sent..<(ledger.sent + 4)
        }
        var calls: [JSON] = numbers.map { number in
            let url = house.origin.serve("/\(number)", Self.content(number)) {
                // Some end at once, most are running at the kill.
                $0.pace = number.isMultiple(of: 4) ? nil : 2_000
            }
            let options: JSON = ["gid": .string(Self.gid(number)), "out": .string("f\(number)")]
            return ["id": .number(number), "method": "aria2.addUri", "params": [[.string(url)], options]]
        }
        calls.append(["id": "stat", "method": "aria2.getGlobalStat"])
        calls.append(["id": "list", "method": "aria2.tellWaiting", "params": [.number(0), .number(20)]])
        let curl = try PawlProcess.run(
            "/usr/bin/curl",
            [
                "-sS", "--unix-socket", house.folder.path("socket"), "--data-binary", JSON.array(calls).text,
                "http://pawl/jsonrpc",
            ])
        guard curl.exit == .code(0), let responses = try JSON.parse(curl.output).array else { return false }
        ledger.with { ledger in
            for response in responses {
                if let number = response["id"]?.integer, response["result"]?.string == Self.gid(Int(number)) {
                    ledger.acknowledged.insert(Int(number))
                }
                if response["result"]?["numActive"]?.string == "\(Self.slots)" { ledger.busyResponses += 1 }
            }
        }
        return true
    }
}
