/// A request in resume data: an `NSURLRequest` in a keyed archive of its own.
package struct AppleRequest: Hashable, Sendable {
    package var address: String
    package var method = "GET"
    package var headers: [String: String] = [:]

    package init(address: String, method: String = "GET", headers: [String: String] = [:]) {
        self.address = address
        self.method = method
        self.headers = headers
    }
}

/// The archive of a request.
///
/// `NSURLRequest` writes its fields without names, as `$0`, `$1`, …, and their meanings are not documented.
/// So they are identified by type: the first URL is the address, the first text that is an HTTP method the
/// method, and the first dictionary of texts the headers.
struct RequestArchive: Hashable, Sendable {
    private var archive: KeyedArchive
    /// Whether the keys had to be repaired (rule R2).
    let isRepaired: Bool

    init?(_ bytes: [UInt8]) {
        guard let list = try? PropertyList(bytes), var archive = KeyedArchive(list) else { return nil }
        isRepaired = Self.repair(&archive)
        self.archive = archive
        guard request != nil else { return nil }
    }

    package var bytes: [UInt8] { archive.list.bytes }

    private static let properties = "__nsurlrequest_proto_props"
    private static let property = "__nsurlrequest_proto_prop_obj_"
    /// More fields than any request has.
    private static let mostFields = 64

    /// iOS 10.0 and 10.1 wrote names that no reader expects: fields that follow `$0`…`$k-1` have names of
    /// their own, and the root has the literal name of the constant.
    private static func repair(_ archive: inout KeyedArchive) -> Bool {
        var isRepaired = false
        if var fields = archive.object(1)?.dictionary {
            var next = 0
            while fields["$\(next)"] != nil { next += 1 }
            let first = next
            while let value = fields.removeValue(forKey: "\(property)\(next - first)") {
                fields["$\(next)"] = value
                next += 1
            }
            if let value = fields.removeValue(forKey: properties) {
                fields["$\(next)"] = value
                next += 1
            }
            isRepaired = next > first
            archive.objects[1] = .dictionary(fields)
        }
        if archive.top["root"] == nil, let root = archive.top.removeValue(forKey: KeyedArchive.literalRootKey) {
            archive.top["root"] = root
            isRepaired = true
        }
        return isRepaired
    }

    /// The request in it; `nil` when there is no URL in it.
    var request: AppleRequest? {
        guard let address = addressField.flatMap({ archive.plain($0)?.string }) else { return nil }
        let texts = fields.compactMap { archive.plain($0.number)?.string }
        return AppleRequest(
            address: address, method: texts.first(where: Self.methods.contains) ?? "GET",
            headers: headersField.map { headers($0.number) } ?? [:])
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

    /// The fields that refer to an object, in their order.
    private var fields: [(key: String, number: Int)] {
        guard let fields = archive.object(archive.root)?.dictionary else { return [] }
        var found: [(key: String, number: Int)] = []
        var next = 0
        while next < Self.mostFields, let field = fields["$\(next)"] {
            if let number = field.reference { found.append(("$\(next)", number)) }
            next += 1
        }
        return found
    }

    private var addressField: Int? {
        fields.first { archive.object($0.number).flatMap(archive.className) == "NSURL" }?.number
    }

    private var headersField: (key: String, number: Int)? { fields.first { !headers($0.number).isEmpty } }

    private func headers(_ number: Int) -> [String: String] {
        guard let values = archive.plain(number)?.dictionary else { return [:] }
        let texts = values.compactMapValues { value in
            value.string ?? value.array.map { $0.compactMap(\.string).joined(separator: ", ") }
        }
        return texts.count == values.count ? texts : [:]
    }
}

// Writing.
extension RequestArchive {
    /// A new archive. (Untested whether Apple's reader accepts it.)
    init(_ request: AppleRequest) {
        var archive = KeyedArchive(objects: [.dictionary([:])])
        let kind = archive.addClass("NSURLRequest")
        let address = archive.addAddress(request.address)
        let method = archive.add(.string(request.method))
        let headers = archive.addHeaders(request.headers)
        archive.objects[1] = .dictionary(["$class": kind, "$0": address, "$1": method, "$2": headers])
        self.archive = archive
        isRepaired = false
    }

    /// Replaces the address and the headers and leaves the rest; `false` when it has no fields for them.
    mutating func change(_ request: AppleRequest) -> Bool {
        guard let root = archive.root, var fields = archive.object(root)?.dictionary,
            let place = self.fields.first(where: { $0.number == addressField })
        else { return false }
        if let old = self.request, old.headers != request.headers {
            guard let place = headersField else { return false }
            fields[place.key] = archive.addHeaders(request.headers)
        }
        fields[place.key] = archive.addAddress(request.address)
        archive.objects[root] = .dictionary(fields)
        return self.request == request
    }
}

extension KeyedArchive {
    fileprivate mutating func addAddress(_ text: String) -> PropertyList {
        let kind = addClass("NSURL")
        let text = add(.string(text))
        return add(.dictionary(["$class": kind, "NS.base": .reference(0), "NS.relative": text]))
    }

    fileprivate mutating func addHeaders(_ headers: [String: String]) -> PropertyList {
        let sorted = headers.sorted { $0.key < $1.key }
        let keys = sorted.map { add(.string($0.key)) }
        let values = sorted.map { add(.string($0.value)) }
        let kind = addClass("NSDictionary")
        return add(.dictionary(["$class": kind, "NS.keys": .array(keys), "NS.objects": .array(values)]))
    }
}
