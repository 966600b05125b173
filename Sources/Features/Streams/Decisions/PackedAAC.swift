/// Frames of AAC as ADTS has them (ISO/IEC 13818-7 §6.2): each states its length, so that a cut is found.
enum PackedAAC {
    private static let header = 7

    /// Why the frames do not fill a segment of packed audio; `nil` if they do, or if it is not AAC.
    ///
    /// ID3 tags are in front, and between frames where they are the programme's metadata.
    static func failure<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> String? where Bytes.Index == Int {
        var rest = bytes.dropFirst(ID3Tag.length(in: bytes))
        guard isSync(rest) else { return nil }
        while !rest.isEmpty {
            let tags = ID3Tag.length(in: rest)
            if tags > 0 {
                rest = rest.dropFirst(tags)
                continue
            }
            guard rest.count < 2 ? rest.first == 0xFF : isSync(rest) else {
                return "it has no frame of AAC at byte \(rest.startIndex - bytes.startIndex)"
            }
            let length = rest.dropFirst(3).prefix(3).reduce(0) { $0 << 8 | Int($1) } >> 5 & 0x1FFF
            guard rest.count >= header, length <= rest.count else { return "it ends within a frame of AAC" }
            guard length >= header else {
                return "its frame of AAC at byte \(rest.startIndex - bytes.startIndex) is shorter than a header"
            }
            rest = rest.dropFirst(length)
        }
        return nil
    }

    /// Twelve set bits, and two that are zero where MPEG audio has its layer.
    private static func isSync(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        guard let first = bytes.first, let second = bytes.dropFirst().first else { return false }
        return first == 0xFF && second & 0xF6 == 0xF0
    }
}
