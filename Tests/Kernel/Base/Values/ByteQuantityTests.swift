import PawlBase
import PawlTestKit
import Testing

struct ByteQuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("1500", 1500), ("10K", 10_240), ("10k", 10_240), ("1M", 1 << 20), ("2G", 2 << 30),
            ("1T", 1 << 40), ("1.5M", 3 << 19), (".5K", 512), ("0.5k", 512), ("1.K", 1024), ("10KB", 10_240),
            ("10KiB", 10_240), ("10 kib", 10_240), (" 5 ", 5), ("5B", 5), ("5b", 5), ("5.0", 5), ("0.3K", 307),
            ("0.0009765625K", 1), ("0.000000000000909494T", 0), ("0.00000000000091T", 1),
            ("1.999999999999999999999999999K", 2047), ("9223372036854775807", Int64.max), ("8388607T", 8_388_607 << 40),
            ("8388607.999999999999999999T", Int64.max),
        ] as [(String, Int64)]) func `amounts are parsed with units of 1024`(_ text: String, _ bytes: Int64)
    { #expect(ByteQuantity.parse(text) == bytes) }

    @Test(arguments: [
        "", " ", "K", ".", ".K", "-1", "-1K", "+1", "1.5", "0.5B", "1X", "1KK", "1KiX", "1iB", "1Bi", "1 0", "1,5M",
        "1e3", "0x10", "9223372036854775808", "8388608T", "9007199254740992K", "99999999999999999999", "1.5.5K", "１K",
        "K1",
    ]) func `an invalid amount is none`(_ text: String) { #expect(ByteQuantity.parse(text) == nil) }

    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1034, "1.00 KiB"), (1035, "1.01 KiB"),
            (1536, "1.50 KiB"), (10_239, "9.99 KiB"), (102_399, "99.9 KiB"), (102_400, "100 KiB"),
            (1_048_575, "1023 KiB"), (1_048_576, "1.00 MiB"), (1_468_006, "1.39 MiB"), (5_000_000, "4.76 MiB"),
            (10 << 30, "10.0 GiB"), (5 << 40, "5.00 TiB"), (3 << 50, "3.00 PiB"), (Int64.max, "7.99 EiB"), (-5, "0 B"),
            (Int64.min, "0 B"),
        ] as [(Int64, String)]) func `amounts are truncated, with at least three digits`(_ bytes: Int64, _ text: String)
    { #expect(ByteQuantity.text(bytes) == text) }

    @Test(
        arguments: [
            (0, "0 B/s"), (999, "999 B/s"), (1024, "1.00 KiB/s"), (1_258_291, "1.19 MiB/s"), (3 << 30, "3.00 GiB/s"),
            (1 << 40, "1.00 TiB/s"), (-1, "0 B/s"),
        ] as [(Int64, String)]) func `D6 speeds are written in B/s, KiB/s, MiB/s`(_ speed: Int64, _ text: String)
    { #expect(ByteQuantity.speed(speed) == text) }

    @Test func `no text and no number trap`() {
        var dice = Dice(seed: 9)
        for _ in 0..<10_000 {
            _ = ByteQuantity.parse(String(decoding: dice.bytes(upTo: 30, from: "0123456789.KMGTiB"), as: UTF8.self))
            let number = Int64(bitPattern: dice.next() >> UInt64.random(in: 0..<64, using: &dice))
            #expect(!ByteQuantity.text(number).isEmpty)
        }
    }
}
