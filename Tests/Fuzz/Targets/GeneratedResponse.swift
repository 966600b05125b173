/// A response with everything that RFC 9112 allows around its payload.
struct GeneratedResponse: CustomStringConvertible {
    private(set) var bytes: [UInt8] = []
    private(set) var payload: [UInt8] = []
    private(set) var status = 200
    /// Whether another request may follow.
    private(set) var keeps = true
    private(set) var endsByClose = false
    /// With the interim heads.
    private(set) var headLength = 0
    private var lineEnd = "\r\n"

    var description: String { String(decoding: bytes.prefix(headLength), as: UTF8.self) + "…" }

    init(_ input: inout FuzzInput, number: Int) {
        if input.byte() % 8 == 0 { lineEnd = "\n" }
        for _ in 0..<max(0, Int(input.byte() % 8) - 5) { addInterim(&input) }
        let isOld = input.byte() % 8 == 0
        var fields = ["Date: Thu, 01 Jan 1970 00:00:00 GMT"]
        let shape = input.byte() % 8
        let statuses = [200, 206, 302, 404, 503]
        status = shape == 0 ? 204 : shape == 1 ? 304 : statuses[Int(input.byte()) % statuses.count]
        keeps = !isOld
        switch input.byte() % 8 {
        case 0:
            fields.append("Connection: x, Close")
            keeps = false
        case 1:
            fields.append("Connection: keep-alive")
            keeps = true
        default: break
        }
        if shape > 1 { payload = Self.payload(Int(input.number() % 3_000), number) }
        let body = addBody(shape, isOld, &fields, &input)
        if input.flag() { fields.append("X-Folded: a\(lineEnd) b") }
        let line = "HTTP/1.\(isOld ? 0 : 1) \(status) Text"
        bytes += ([line] + fields).joined(separator: lineEnd).utf8
        bytes += (lineEnd + lineEnd).utf8
        headLength = bytes.count
        bytes += body
    }

    private mutating func addInterim(_ input: inout FuzzInput) {
        let status = [100, 102, 103][Int(input.byte() % 3)]
        // A length in an interim response is ignored (RFC 9110 §8.6).
        let field = input.flag() ? "Content-Length: 7\(lineEnd)" : ""
        bytes += "HTTP/1.1 \(status) Wait\(lineEnd)\(field)\(lineEnd)".utf8
    }

    private mutating func addBody(
        _ shape: UInt8, _ isOld: Bool, _ fields: inout [String], _ input: inout FuzzInput
    ) -> [UInt8] {
        switch shape {
        case 0, 1:
            if input.flag() { fields.append("Content-Length: \(input.byte())") }
            if input.flag() { fields.append("Transfer-Encoding: chunked") }
            return []
        case 2:
            endsByClose = true
            keeps = false
            return payload
        case 3, 4:
            let copies = ["\(payload.count)", "\(payload.count), \(payload.count)", "0\(payload.count)"]
            fields.append("Content-Length: \(copies[Int(input.byte() % 3)])")
            if input.flag() { fields.append("content-length:\(payload.count) ") }
            return payload
        default:
            let codings = ["chunked", "Chunked, chunked", "identity, chunked", "\(lineEnd) chunked"]
            fields.append("Transfer-Encoding: \(codings[Int(input.byte() % 4)])")
            if input.byte() % 4 == 0 { fields.append("transfer-encoding: chunked") }
            if input.byte() % 4 == 0 {
                fields.append("Content-Length: \(input.byte())")
                keeps = false
            }
            if isOld { keeps = false }
            return chunked(&input)
        }
    }

    private func chunked(_ input: inout FuzzInput) -> [UInt8] {
        var body: [UInt8] = []
        var rest = payload[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int(input.byte()) * 4 + 1)
            rest = rest[chunk.endIndex...]
            body += sizeLine(chunk.count, &input) + chunk + Array("\r\n".utf8)
        }
        body += sizeLine(0, &input)
        for _ in 0..<max(0, Int(input.byte() % 8) - 5) {
            let trailers = ["Content-Length: 3", "Transfer-Encoding: chunked", "HTTP/1.1 200 OK", " x"]
            body += (trailers[Int(input.byte() % 4)] + lineEnd).utf8
        }
        return body + Array(lineEnd.utf8)
    }

    private func sizeLine(_ size: Int, _ input: inout FuzzInput) -> [UInt8] {
        let choice = input.byte()
        let zeros = String(repeating: "0", count: choice % 4 == 0 ? Int(choice % 16) : 0)
        let number = String(size, radix: 16, uppercase: choice % 2 == 0)
        let padding = choice % 5 == 0 ? " \t" : ""
        let length = choice % 3 == 0 ? Int(input.byte()) * 8 : 0
        let ending = length > 0 ? ";x=\"" + String(repeating: "y", count: length) + "\"" : ""
        return Array((zeros + number + padding + ending + lineEnd).utf8)
    }

    /// Bytes that identify their response and position.
    private static func payload(_ count: Int, _ number: Int) -> [UInt8] {
        var state = UInt32(truncatingIfNeeded: number &* 7_919 &+ 17)
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }
}
