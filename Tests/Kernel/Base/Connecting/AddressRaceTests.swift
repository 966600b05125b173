import Testing

@testable import PawlBase

@Suite struct AddressRaceTests {
    private static let refused = TransferFault(.connectionRefused, foreign: "refused")

    private func race(_ texts: [String], deniesPrivate: Bool = false) -> AddressRace {
        AddressRace(texts.compactMap { Endpoint($0, port: 80) }, deniesPrivate: deniesPrivate, next: 0)
    }

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    private func order(_ race: AddressRace) -> [String] {
        var (race, order) = (race, [String]())
        while let attempt = race.start(at: at(0)) { order.append(NumericAddress.text(of: attempt.endpoint.bytes)) }
        return order
    }

    @Test func `the families alternate, beginning with that of the first address`() {
        #expect(
            order(race(["2::1", "2::2", "2::3", "9.0.0.1", "9.0.0.2"])) == [
                "2::1", "9.0.0.1", "2::2", "9.0.0.2", "2::3",
            ])
        #expect(order(race(["9.0.0.1", "9.0.0.2", "2::1"])) == ["9.0.0.1", "2::1", "9.0.0.2"])
        #expect(order(race(["9.0.0.1", "9.0.0.2"])) == ["9.0.0.1", "9.0.0.2"])
    }

    @Test func `the next address is tried after 250 ms, or at once after a failure`() {
        var race = race(["2::1", "9.0.0.1", "9.0.0.2"])
        #expect(race.start(at: at(0))?.number == 0)
        #expect(race.due == at(250))
        let isUnderWay = race.failed(0, Self.refused)
        #expect(isUnderWay)
        #expect(race.start(at: at(10))?.number == 1)
        #expect(race.due == at(260))
        #expect(race.start(at: at(260))?.number == 2)
        // Nothing is left to be tried.
        #expect(race.due == nil)
        #expect(race.start(at: at(270)) == nil)
        #expect(race.open.map(\.number) == [1, 2])
        let isUnderWayAgain = race.failed(0, Self.refused)
        #expect(!isUnderWayAgain, "an attempt fails once")
    }

    @Test func `a private address is left out, and is the reason if no other can be reached`() {
        var race = race(["10.0.0.1", "9.0.0.1", "fe80::1%eth0"], deniesPrivate: true)
        #expect(order(race) == ["9.0.0.1"])
        _ = race.start(at: at(0))
        _ = race.failed(0, Self.refused)
        #expect(race.fault.kind == .privateAddress && race.fault.text.contains("10.0.0.1"))
        #expect(order(self.race(["::1"], deniesPrivate: true)).isEmpty)
        #expect(order(self.race(["::1"])) == ["::1"])
    }

    @Test func `a host with very many addresses does not use up the descriptors`() {
        let texts = (0..<200).map { "9.0.0.\($0)" } + ["2::1"]
        #expect(order(race(texts)) == ["9.0.0.0", "2::1"] + texts[1..<AddressRace.most - 1])
    }

    @Test func `an address may have a zone`() {
        #expect(
            Endpoint("fe80::1%eth0", port: 1)
                == .address([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], zone: "eth0", port: 1))
        #expect(Endpoint("9.0.0.1", port: 1) == .address([9, 0, 0, 1], zone: nil, port: 1))
        for text in ["9.0.0.1%eth0", "fe80::1%", "[::1]", "host", ""] {
            #expect(Endpoint(text, port: 1) == nil, "\(text)")
        }
    }
}
