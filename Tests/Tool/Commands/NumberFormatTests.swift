import Testing

@testable import PawlTerminal

@Suite struct NumberFormatTests {
    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1000, "1000 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10_240, "10.0 KiB"),
        (102_400, "100 KiB"), (10_239, "9.99 KiB"), (1_048_575, "1023 KiB"), (1_048_576, "1.00 MiB"),
        (5_000_000_000, "4.65 GiB"), (.max, "8.00 EiB"),
    ]) func `D6 sizes are bytes below 1024, else truncated to three significant digits or more`(
        bytes: Int64, text: String
    ) {
        #expect(NumberFormat.size(bytes) == text)
        #expect(NumberFormat.speed(bytes) == text + "/s")
    }

    @Test func `done and total share the total's unit`() {
        #expect(NumberFormat.size(0, of: 5) == "0/5 B")
        #expect(NumberFormat.size(1_048_576, of: 104_857_600) == "1.00/100 MiB")
        #expect(NumberFormat.size(1024, of: 1_073_741_824) == "0.00/1.00 GiB")
    }

    @Test func `100 % is never shown early, however large the file`() {
        for total: Int64 in [1000, 1 << 30, 1 << 40, 123_456_789_012] {
            let percent = Double(total - 1) * 100 / Double(total)
            #expect(NumberFormat.fixed(percent, decimals: 2).hasPrefix("99."))
        }
    }

    @Test func `no number is wider than its column`() {
        var value: Int64 = 1
        while value < .max / 3 {
            for near in [value - 1, value, value + 1] {
                #expect(NumberFormat.size(near).count <= 8)
                #expect(NumberFormat.size(near - 1, of: near).count <= 13)
            }
            value = value * 3 / 2 + 1
        }
        for seconds in [0, 59, 60, 3599, 3600, 86_399, 86_400, 8_639_999, 8_640_000, 1e12] {
            #expect(NumberFormat.duration(seconds).count <= 7)
        }
    }

    @Test(arguments: [
        (0.0, "0s"), (0.2, "1s"), (59, "59s"), (60, "1:00"), (67, "1:07"), (3723, "1:02:03"), (43_500, "12h 5m"),
        (100_000, "1d 3h"), (9e9, ">99d"), (.infinity, ">99d"),
    ]) func `durations are written like a clock`(seconds: Double, text: String) {
        #expect(NumberFormat.duration(seconds) == text)
    }

    @Test(arguments: [
        (99.999, 2, "99.99"), (100, 2, "100.00"), (0, 2, "0.00"), (12.345, 1, "12.3"), (0.29 * 100, 0, "29"),
        (7.0, 0, "7"), (.nan, 1, "?"), (-1, 1, "?"),
    ]) func `A6 decimals are truncated and never rounded up to the end`(value: Double, decimals: Int, text: String) {
        #expect(NumberFormat.fixed(value, decimals: decimals) == text)
    }
}
