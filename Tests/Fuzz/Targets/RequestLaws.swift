@testable import PawlBase
@testable import PawlWeb

/// Requests of one connection and a WebSocket's frames: pieces do not matter, and the output is in the bytes.
enum RequestLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let size = Int(input.byte()) % 40 + 1
        let isSocket = input.flag()
        let bytes = input.rest()
        if isSocket {
            try hold(frames(bytes, size) == frames(bytes, bytes.count + 1), "frames by pieces of \(size)")
        } else {
            let whole = try requests(bytes, bytes.count + 1)
            try hold(try requests(bytes, size) == whole, "requests by pieces of \(size)")
        }
    }

    private static func requests(_ bytes: [UInt8], _ size: Int) throws(BrokenLaw) -> [RequestReader.Step] {
        var reader = RequestReader(longestHead: 1024)
        var steps: [RequestReader.Step] = []
        var start = 0
        var handed = 0
        repeat {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            unsafe piece.withUnsafeBytes { unsafe reader.take($0) }
            start += piece.count
            while true {
                let step = reader.next()
                if step == .incomplete { break }
                steps.append(step)
                switch step {
                case .incomplete: break
                case .broken(let fault):
                    try hold((400..<600).contains(fault.status), "a fault of status \(fault.status)")
                    return steps
                case .head(let head):
                    try hold(head.path.hasPrefix("/") || head.path == "*", "the path \(head.path)")
                    try hold(
                        head.fields.values.allSatisfy { !$0.utf8.has { $0 == 0x0A || $0 == 0x0D || $0 == 0 } },
                        "a field with a line's end")
                    try hold(head.bodyLength == 0 || head.method == "POST", "a body of \(head.method)")
                case .body(let body): handed += body.count
                }
                try hold(handed + reader.count <= start, "more came out than went in")
            }
        } while start < bytes.count
        return steps
    }

    private static func frames(_ bytes: [UInt8], _ size: Int) -> [FrameReader.Step] {
        var reader = FrameReader(longest: 500)
        var steps: [FrameReader.Step] = []
        var start = 0
        repeat {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            unsafe piece.withUnsafeBytes { unsafe reader.take($0) }
            start += piece.count
            while true {
                let step = reader.next()
                _ = reader.arriving
                if step == .incomplete { break }
                steps.append(step)
                if case .broken = step { return steps }
            }
        } while start < bytes.count
        return steps
    }
}
