// `NAME://ROOT/KEY`: keys are literal, so `?`, `#`, `%` and spaces are characters of the key like any other.
extension WebAddress {
    /// The address of what a key names, of a prefix of keys, or of a root (an empty key).
    ///
    /// Throws code 28.
    package static func located(_ scheme: LocatedScheme, root: String, key: String) throws(Failure) -> WebAddress {
        let text = "\(scheme.rawValue)://\(root)/\(key)"
        do throws(AddressFlaw) {
            let bytes = try allowed(Array(text.utf8)[...], inKey: true)
            return try read(scheme, afterSlashes: bytes.dropFirst(scheme.rawValue.utf8.count + 3))
        } catch { throw failure(error, text) }
    }

    /// Parses the text after `NAME://`.
    static func read(
        _ scheme: LocatedScheme, afterSlashes rest: ArraySlice<UInt8>
    ) throws(AddressFlaw) -> WebAddress {
        let root = rest.prefix { $0 != .slash }
        let key = rest[root.endIndex...].dropFirst()
        guard !root.isEmpty else { throw scheme.withoutRoot }
        guard !root.contains(.at) else { throw scheme.withLogin }
        let isName = root.allSatisfy {
            $0.isLetter || $0.isDigit || $0 == .dash || $0 == .dot || $0 == .underscore
                || scheme.hasPort && $0 == .colon
        }
        guard isName, root.first != .dot, root.last != .dot, root.count <= 255 else {
            throw scheme.invalid(root: Redaction.clipped(Redaction.printable(text(root)), to: 64))
        }
        guard String(validating: key, as: UTF8.self) != nil else {
            throw AddressFlaw("address-key-not-text", "its key is not UTF-8")
        }
        // Clients and proxies resolve them, so that another object would be requested than the one that was named.
        guard
            !key.pieces(between: .slash).contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { throw AddressFlaw("address-key-part", "its key has a part . or ..") }
        return WebAddress(
            scheme: .located(scheme), host: text(root), port: Scheme.located(scheme).defaultPort,
            path: "/" + PercentCoding.reversible(key, keepingSlash: true), query: nil)
    }

    /// Whether it has a key and, instead of a host, a root.
    package var isLocated: Bool { scheme.isLocated }

    /// The key of a located address, as its owner wrote it.
    package var key: String { Self.key(path) }

    /// Whether it names a root or the beginning of keys rather than one of them.
    package var isPrefix: Bool { isLocated && path.utf8.last == .slash }

    private static func key(_ path: String) -> String { text(PercentCoding.decoded(path.utf8.dropFirst())) }

    static func text(_ scheme: LocatedScheme, root: String, path: String) -> String {
        "\(scheme.rawValue)://\(root)/\(key(path))"
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}
