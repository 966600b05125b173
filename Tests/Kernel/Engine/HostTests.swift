import PawlBase
import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `Host limits` {
    @Test func `G4 Retry-After holds back its URL, and no other download that the origin serves`() {
        let stage = Stage()
        let first = stage.serve("a.bin", 2 * .mebi)
        let second = stage.serve("bb.bin", 2 * .mebi)
        let other = stage.serve("ccc.bin", 2 * .mebi, host: "other.test")
        stage.world.network[Stage.host].faults[0] = .status(503, retryAfter: "20")
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(4) })
        stage.after(.seconds(1)) { stage in
            stage.start(Stage.job("bb.bin"))
            var job = Stage.job("ccc.bin")
            job.plan = DownloadPlan(sources: [Stage.address("ccc.bin", host: "other.test")])
            stage.start(job)
        }
        stage.run()
        let start = Instant(nanoseconds: 1_000_000_000)
        let refused = stage.requests.filter { $0.address == Stage.address("a.bin") }
        #expect(refused.count > 1 && refused.dropFirst().allSatisfy { $0.at - start >= .seconds(20) })
        for address in [Stage.address("bb.bin"), Stage.address("ccc.bin", host: "other.test")] {
            #expect(stage.requests.contains { $0.address == address && $0.at - start < .seconds(2) })
        }
        #expect(stage.retries(id) == [.seconds(20)])
        stage.expect(first, at: "a.bin")
        stage.expect(second, at: "bb.bin")
        stage.expect(other, at: "ccc.bin")
    }

    @Test(arguments: [true, false])
    func `the user ends a wait for the next attempt, also one that the server requested`(isRequested: Bool) {
        let stage = Stage()
        let payload = stage.serve("a.bin", 2 * .mebi)
        let fault: SimulatedServer.Fault = isRequested ? .status(503, retryAfter: "3000") : .status(500)
        stage.world.network[Stage.host].faults[0] = fault
        let id = stage.start(Stage.job("a.bin") { $0.plan.retry = RetryPolicy(retries: 5, delay: .seconds(3000)) })
        stage.after(.seconds(5)) { $0.engine.retryNow(id) }
        stage.run()
        #expect(stage.retries(id).count == 1)
        #expect(stage.requests.count == 2)
        let start = Instant(nanoseconds: 1_000_000_000)
        #expect(stage.requests.allSatisfy { $0.at - start < .seconds(6) })
        stage.expect(payload, at: "a.bin")
    }

    @Test func `a request to try now has no effect on a download that does not wait`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 8 * .mebi)
        let id = stage.start(Stage.job("a.bin"))
        stage.whenTaken(1 * .mebi) { $0.engine.retryNow(id) }
        stage.run()
        #expect(stage.phases(id) == [.probing, .transferring, .publishing, .finished])
        stage.engine.retryNow(id)
        stage.expect(payload, at: "a.bin")
    }

    @Test(arguments: [SimulatedServer.Overflow.refuse, .busy(retryAfter: nil), .busy(retryAfter: "3")])
    func `G3 a cap on connections is found and respected`(overflow: SimulatedServer.Overflow) {
        let stage = Stage()
        let payload = stage.serve("a.bin", 40 * .mebi)
        stage.world.network[Stage.host].connections = 3
        stage.world.network[Stage.host].overflow = overflow
        stage.world.network[Stage.host].rate = 2 << 20
        let id = stage.start(Stage.job("a.bin") { $0.plan.ramp = .fixed(8) })
        stage.run()
        stage.expect(payload, at: "a.bin")
        #expect(stage.retries(id).isEmpty, "working lanes continue")
        let connectionRefused = stage.requests.count { $0.taken.isEmpty && $0.end != .cancelled }
        #expect(connectionRefused <= 10, "it is not hammered")
        let seconds = (stage.world.clock.now - Instant(nanoseconds: 1_000_000_000)).seconds
        #expect(seconds < 8.5, "three connections need 6.7 s, two 10 s")
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") < 1 * .mebi)
    }

    @Test func `G4 the budget is returned when downloads end`() {
        let stage = Stage(jobs: 1)
        stage.world.network[Stage.host].connections = 1
        let payloads = (0..<4).map { stage.serve("file\($0).bin", 1 * .mebi, seed: UInt64($0)) }
        for index in 0..<4 { stage.start(Stage.job("file\(index).bin")) }
        stage.run()
        #expect(stage.requests.count == 4)
        for (index, payload) in payloads.enumerated() { stage.expect(payload, at: "file\(index).bin") }
    }

    @Test func `G3 automatic growth uses more connections where they pay`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 60 * .mebi)
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .automatic(maximum: 8) })
        stage.run()
        #expect(stage.world.network.peak(Stage.host) == 8)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G3 automatic growth stays with one connection where more do not pay`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 60 * .mebi)
        stage.world.network[Stage.host].totalRate = 4 << 20
        stage.start(Stage.job("a.bin") { $0.plan.ramp = .automatic(maximum: 8) })
        stage.run()
        #expect(stage.world.network.peak(Stage.host) == 2, "one try")
        #expect(stage.world.network.takenTwice(Stage.host, "/a.bin") < 1 * .mebi)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `segments use connections of their own and the first request may share one`() {
        let stage = Stage()
        stage.serve("a.bin", 20 * .mebi)
        stage.start(
            Stage.job("a.bin") {
                $0.plan.ramp = .fixed(4)
                $0.sharesConnections = true
            })
        stage.run()
        #expect(stage.requests[0].connection == .shared)
        #expect(stage.requests.dropFirst().allSatisfy { $0.connection == .separate })
    }

    @Test func `secrets go to named origins only`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 1 * .mebi, host: "cdn.test")
        stage.world.network[Stage.host].files["/a.bin"] = SimulatedFile(redirectTo: "http://cdn.test/a.bin")
        stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.requests.map(\.carriesSecrets) == [true, false])
        stage.expect(payload, at: "a.bin")
    }

    /// Hosts that request TLS (HSTS).
    private final class SecureNotes: HostNotes {
        let hosts: Set<String>

        init(_ hosts: Set<String>) { self.hosts = hosts }

        func note(of origin: Origin) -> HostNote? { nil }
        func note(_ note: HostNote, of origin: Origin) {}
        func forget(host: String?) {}
        func forget(_ origin: Origin) {}
        func note(transportSecurity field: String, of host: String) {}
        func secured(_ address: WebAddress) -> WebAddress {
            guard hosts.contains(address.host) else { return address }
            return WebAddress(scheme: .https, host: address.host, port: 443, path: address.path, query: address.query)
        }
    }

    @Test(arguments: [["cdn.test"], [Stage.host], ["cdn.test", Stage.host]] as [Set<String>])
    func `a host that requests it is contacted over TLS, also after a redirect to it`(hosts: Set<String>) {
        let stage = Stage(notes: SecureNotes(hosts))
        let payload = stage.serve("a.bin", 1 * .mebi, host: "cdn.test")
        stage.world.network[Stage.host].files["/a.bin"] = SimulatedFile(redirectTo: "http://cdn.test/a.bin")
        stage.start(Stage.job("a.bin"))
        stage.run()
        let schemes = stage.requests.map(\.address.scheme)
        #expect(schemes == [Stage.host, "cdn.test"].map { hosts.contains($0) ? .https : .http })
        // Named origins stay named.
        #expect(stage.requests.map(\.carriesSecrets) == [true, false])
        stage.expect(payload, at: "a.bin")
    }

    @Test func `an expired redirect target leads back to the first URL`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 4 * .mebi, host: "cdn.test")
        stage.world.network[Stage.host].files["/a.bin"] = SimulatedFile(redirectTo: "http://cdn.test/a.bin")
        stage.world.network["cdn.test"].faults = [
            0: .reset(after: 1 * .mebi), 1: .status(403), 2: .reset(after: 1 * .mebi), 3: .status(403),
        ]
        stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(stage.requests.count { $0.address.host == Stage.host } == 3)
        #expect(stage.world.network.takenTwice("cdn.test", "/a.bin") == 0)
        stage.expect(payload, at: "a.bin")
    }
}

@Suite struct `Mirrors` {
    @Test func `G5 a mirror takes over when the first source is gone`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 6 * .mebi)
        stage.world.network["mirror.test"].files["/a.bin"] = SimulatedFile(payload)
        stage.world.network[Stage.host].faults[0] = .reset(after: 2 * .mebi)
        stage.whenTaken(1 * .mebi) { $0.world.network[Stage.host].always = .status(404) }
        let id = stage.start(Stage.job("a.bin", mirrors: ["mirror.test"]))
        stage.run()
        #expect(stage.phases(id).last == .finished)
        #expect(stage.requests.contains { $0.address.host == "mirror.test" && !$0.taken.isEmpty })
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G5 lanes spread over mirrors that are proven to have the same bytes`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 30 * .mebi)
        var file = SimulatedFile(payload)
        file.entityTag = EntityTag(opaque: "other-tag", isWeak: false)
        stage.world.network["mirror.test"].files["/a.bin"] = file
        stage.start(Stage.job("a.bin", mirrors: ["mirror.test"]) { $0.plan.ramp = .fixed(4) })
        stage.run()
        let fromMirror = stage.requests.filter { $0.address.host == "mirror.test" }
        #expect(fromMirror.reduce(0) { $0 + $1.taken.count } > 4 * .mebi)
        stage.expect(payload, at: "a.bin")
    }

    @Test func `G5 a mirror with other content of the same length is excluded and no byte of it stays`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 30 * .mebi)
        stage.world.network["mirror.test"].files["/a.bin"] = SimulatedFile(Payload(seed: 4711, length: 30 * .mebi))
        let id = stage.start(Stage.job("a.bin", mirrors: ["mirror.test"]) { $0.plan.ramp = .fixed(4) })
        stage.run()
        #expect(stage.requests.contains { $0.address.host == "mirror.test" }, "it was requested")
        #expect(stage.sentences(id).contains { $0.contains("left out") })
        #expect(stage.phases(id).last == .finished)
        stage.expect(payload, at: "a.bin")
    }
}
