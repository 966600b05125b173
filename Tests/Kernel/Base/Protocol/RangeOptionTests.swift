import PawlBase
import Testing

struct RangeOptionTests {
    @Test(arguments: [
        ("0-99", RequestedRange.closed(ByteRange(0, 100))), ("100-199", .closed(ByteRange(100, 200))),
        ("5-5", .closed(ByteRange(5, 6))), (" 0 - 99 ", .closed(ByteRange(0, 100))), ("100-", .from(100)),
        ("0-", .from(0)), ("-100", .suffix(100)), ("-1", .suffix(1)), ("281474976710655-", .from(1 << 48 - 1)),
        ("0-281474976710654", .closed(ByteRange(0, 1 << 48 - 1))), ("-281474976710655", .suffix(1 << 48 - 1)),
    ]) func `B5 valid ranges are accepted`(_ text: String, _ range: RequestedRange) throws {
        #expect(try RangeOption.parse(text) == range)
    }

    @Test(arguments: [
        ("", "form"), ("-", "form"), ("5", "form"), ("a-b", "form"), ("1-b", "form"), ("a-1", "form"), ("-b", "form"),
        ("b-", "form"), ("1-2-3", "form"), ("0-1,2-3", "form"), ("bytes=0-1", "form"), ("--5", "form"),
        ("+1-2", "form"), ("1.5-2", "form"), ("5-3", "ends before"), ("-0", "empty"), ("99999999999999999999-", "form"),
        ("-99999999999999999999", "form"), ("0-9223372036854775807", "longest supported"),
        ("0-9223372036854775806", "longest supported"), ("9223372036854775806-", "longest supported"),
        ("281474976710656-", "longest supported"), ("0-281474976710655", "longest supported"),
        ("-281474976710656", "longest supported"), ("-9223372036854775807", "longest supported"), ("\u{1B}-1", "form"),
    ]) func `an impossible range is refused with code 28`(_ text: String, _ why: String) {
        let error = #expect(throws: Failure.self) { try RangeOption.parse(text) }
        #expect(error?.code == .badOption)
        #expect(error?.why.contains(why) == true)
        #expect(error?.description.contains("\u{1B}") == false)
    }
}
