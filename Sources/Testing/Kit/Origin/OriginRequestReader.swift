import Glibc

/// Reads request header sections from a socket; requests have no bodies here.
struct OriginRequestReader {
    let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The next request, `nil` at the end of the connection or for malformed input.
    mutating func next() -> Request? {
        var searched = 0
        while true {
            if let end = endOfHead(from: max(0, searched - 3)) {
                let head = buffer[..<end]
                buffer.removeFirst(end)
                return Self.parse(head)
            }
            searched = buffer.count
            guard buffer.count < 1 << 20, receive() else { return nil }
        }
    }

    private func endOfHead(from start: Int) -> Int? {
        guard buffer.count >= 4 else { return nil }
        for index in start..<(buffer.count - 3)
        where buffer[index] == 13 && buffer[index + 1] == 10 && buffer[index + 2] == 13 && buffer[index + 3] == 10 {
            return index + 4
        }
        return nil
    }

    private mutating func receive() -> Bool {
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(descriptor, &block, block.count, 0)
            if count > 0 {
                buffer += block[..<count]
                return true
            }
            guard count < 0, errno == EINTR else { return false }
        }
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> Request? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return (String(line[..<colon]), String(value))
        }
        var target = String(words[1])
        if target.hasPrefix("http://"), let slash = target.dropFirst(7).firstIndex(of: "/") {
            target = String(target[slash...])  // the absolute form of requests to a proxy
        }
        return Request(method: String(words[0]), target: target, version: String(words[2]), headers: headers)
    }
}
