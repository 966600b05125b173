import PawlBase

/// An archive of `NSKeyedArchiver`, read at the level of its property list: numbered objects, and names for
/// the root ones.
struct KeyedArchive: Hashable, Sendable {
    var objects: [PropertyList]
    var top: [String: PropertyList]

    init?(_ list: PropertyList) {
        guard let fields = list.dictionary, fields["$archiver"]?.string != nil, let objects = fields["$objects"]?.array,
            let top = fields["$top"]?.dictionary
        else { return nil }
        self.objects = objects
        self.top = top
    }

    /// An archive whose object of number 1 is the root.
    init(objects: [PropertyList]) {
        self.objects = [.string("$null")] + objects
        top = ["root": .reference(1)]
    }

    var list: PropertyList {
        .dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$objects": .array(objects),
            "$top": .dictionary(top),
        ])
    }

    /// The name of the root in archives of resume data, instead of `root`.
    static let literalRootKey = "NSKeyedArchiveRootObjectKey"

    /// The number of the first object.
    var root: Int? { (top[Self.literalRootKey] ?? top["root"])?.reference }

    package func object(_ number: Int?) -> PropertyList? {
        guard let number, objects.indices.contains(number), number > 0 else { return nil }
        return objects[number]
    }

    /// The name of an archived object's class.
    func className(of object: PropertyList) -> String? {
        self.object(object.dictionary?["$class"]?.reference)?.dictionary?["$classname"]?.string
    }

    /// The object as a plain property list: dictionaries, arrays, texts, data, dates and URLs; `nil` for any
    /// other.
    func plain(_ number: Int?) -> PropertyList? {
        var work = 10_000
        return plain(.reference(number ?? 0), depth: 0, work: &work)
    }

    /// Objects may refer to each other in cycles or repeatedly, so depth and work are limited.
    private func plain(_ value: PropertyList, depth: Int, work: inout Int) -> PropertyList? {
        work -= 1
        guard depth < 32, work >= 0 else { return nil }
        guard let number = value.reference else { return value }
        guard let object = object(number) else { return nil }
        guard let fields = object.dictionary else { return object.reference == nil ? object : nil }
        switch className(of: object) {
        case "NSDictionary", "NSMutableDictionary": return pairs(fields, depth: depth, work: &work)
        case "NSArray", "NSMutableArray":
            var values: [PropertyList] = []
            for element in fields["NS.objects"]?.array ?? [] {
                guard let value = plain(element, depth: depth + 1, work: &work) else { return nil }
                values.append(value)
            }
            return .array(values)
        case "NSString", "NSMutableString": return fields["NS.string"]
        case "NSData", "NSMutableData": return fields["NS.data"]
        case "NSDate": return fields["NS.time"]
        case "NSURL": return address(fields).map { .string($0) }
        default: return nil
        }
    }

    /// Pairs whose value is of an unknown class are left out.
    private func pairs(_ fields: [String: PropertyList], depth: Int, work: inout Int) -> PropertyList {
        var found: [String: PropertyList] = [:]
        for (key, value) in zip(fields["NS.keys"]?.array ?? [], fields["NS.objects"]?.array ?? []) {
            guard let key = plain(key, depth: depth + 1, work: &work)?.string,
                let value = plain(value, depth: depth + 1, work: &work)
            else { continue }
            found[key] = value
        }
        return .dictionary(found)
    }

    /// A URL is a text with an optional base URL.
    private func address(_ fields: [String: PropertyList], depth: Int = 0) -> String? {
        guard let text = object(fields["NS.relative"]?.reference)?.string else { return nil }
        guard depth < 4, let base = object(fields["NS.base"]?.reference)?.dictionary,
            let start = address(base, depth: depth + 1),
            let address = try? WebAddress.parse(start).address.resolving(text)
        else { return text }
        return address.text
    }

    /// Adds an object and returns a reference to it.
    mutating func add(_ object: PropertyList) -> PropertyList {
        objects.append(object)
        return .reference(objects.count - 1)
    }

    mutating func addClass(_ names: String...) -> PropertyList {
        add(
            .dictionary([
                "$classname": .string(names[0]), "$classes": .array((names + ["NSObject"]).map { .string($0) }),
            ]))
    }
}
