/// Host names of other scripts in their DNS form (RFC 5891 §4.4, RFC 3492).
///
/// libcurl could convert them, but its libidn2 reads the locale, which a program that sets none does not
/// have.
enum Punycode {
    /// `label`, which is not all ASCII, as `xn--…`; `nil` when it is too long for the DNS.
    static func asciiLabel(_ label: [Unicode.Scalar]) -> [UInt8]? {
        // Each scalar needs at least a digit. Marks may be composed away, hence the allowance of a few each.
        guard label.count <= 63 * 4 else { return nil }
        let scalars = composed(label)
        guard scalars.count <= 63 else { return nil }
        let text = Array("xn--".utf8) + encoded(scalars.map(\.value))
        return text.count <= 63 ? text : nil
    }

    /// Bootstring's encoder (RFC 3492 §6.3).
    ///
    /// With at most 63 scalars nothing here can overflow.
    private static func encoded(_ input: [UInt32]) -> [UInt8] {
        var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        var handled = UInt32(basicCount)
        if basicCount > 0 { output.append(.dash) }
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while let point = input.filter({ $0 >= next }).min() {
            delta += (point - next) * (handled + 1)
            next = point
            for value in input {
                if value < next { delta += 1 }
                guard value == next else { continue }
                appendNumber(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == UInt32(basicCount))
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return output
    }

    /// A number in digits of changing weight, the least significant first (§3.3).
    private static func appendNumber(_ number: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = number
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : min(position - bias, 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: UInt32) -> UInt8 { value < 26 ? 0x61 + UInt8(value) : 0x30 + UInt8(value - 26) }

    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var bias: UInt32 = 0
        while rest > 35 * 26 / 2 {
            rest /= 35
            bias += 36
        }
        return bias + 36 * rest / (rest + 38)
    }

    /// Letters with the marks after them as one scalar where Unicode has it (IDNA requires Normalisation Form
    /// C).
    ///
    /// The standard library compares by canonical equivalence but does not offer the normal form itself; the
    /// blocks of composed letters are small enough to be searched.
    private static func composed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        for scalar in scalars {
            if scalar.properties.canonicalCombiningClass != .notReordered, let last = result.last,
                let whole = composition(last, scalar)
            {
                result[result.count - 1] = whole
            } else {
                result.append(scalar)
            }
        }
        return result
    }

    private static func composition(_ letter: Unicode.Scalar, _ mark: Unicode.Scalar) -> Unicode.Scalar? {
        var pair = String(letter)
        pair.unicodeScalars.append(mark)
        let blocks: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x4FF, 0x1E00...0x1FFF, 0x3040...0x30FF]
        return blocks.joined().lazy.compactMap(Unicode.Scalar.init).first { String($0) == pair }
    }
}
