@testable import PawlBase
@testable import PawlIntegrity

/// zsync control files: whatever one contains, its blocks are those of a file, and a scan ends and stays within it.
enum ZsyncLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        guard let control = try? ZsyncControl(bytes) else { return }
        try hold(control.blockLength > 0 && control.length >= 0, "impossible lengths")
        try hold(
            control.table.count == control.blockCount * (control.weakLength + control.strongLength),
            "a table of another length")
        guard control.blockCount <= 4_096, control.blockLength <= 4_096 else { return }
        var matcher = ZsyncMatcher(control)
        var matches: [ZsyncMatcher.Match] = []
        let window = Array(bytes.prefix(8_192))
        unsafe window.withUnsafeBytes { window in matches = unsafe matcher.scan(window, at: 0, isLast: true).matches }
        for match in matches {
            try hold(match.target.end <= control.length, "a block beyond the end")
            try hold(match.source >= 0 && match.source < Int64(window.count), "a match outside the file")
        }
        let missing = matcher.missing.reduce(0) { $0 + $1.count }
        try hold(
            missing + matches.reduce(0) { $0 + $1.target.count } == control.length, "bytes neither found nor missing")
    }
}
