package import PawlBase
package import PawlJournal

/// The resume data of `NSURLSession`: the request of a download, its progress, and the location of its
/// partial.
///
/// The formats are not documented by Apple; what is known of them is noted at each rule (R1–R7).
package struct AppleResumeData: Hashable, Sendable {
    /// Everything in it, unknown fields included; the requests are repaired.
    private var fields: [String: PropertyList]
    /// The repairs that were made.
    package private(set) var repairs: Set<Repair> = []

    /// A known fault of some version of iOS.
    package enum Repair: Hashable, Sendable {
        /// R2: the original or the current request could not be read unrepaired.
        case request
        /// R3: a byte range that leads to wrong totals was dropped.
        case byteRange
        /// The original or the current request is unusable, and a plain one replaces it.
        case lostRequest
    }

    /// A version of iOS.
    package struct System: Hashable, Comparable, Sendable {
        package var major: Int
        package var minor: Int

        package init(major: Int, minor: Int) {
            self.major = major
            self.minor = minor
        }

        package static func < (left: System, right: System) -> Bool {
            (left.major, left.minor) < (right.major, right.minor)
        }
    }

    enum Key {
        static let address = "NSURLSessionDownloadURL"
        static let received = "NSURLSessionResumeBytesReceived"
        static let current = "NSURLSessionResumeCurrentRequest"
        static let original = "NSURLSessionResumeOriginalRequest"
        static let entityTag = "NSURLSessionResumeEntityTag"
        /// Pawl's own: the address whose validators these are, where that is not the address any more.
        static let validatorAddress = "PawlResumeValidatorAddress"
        static let serverDate = "NSURLSessionResumeServerDownloadDate"
        static let byteRange = "NSURLSessionResumeByteRange"
        static let version = "NSURLSessionResumeInfoVersion"
        static let localPath = "NSURLSessionResumeInfoLocalPath"
        static let partialName = "NSURLSessionResumeInfoTempFileName"
    }

    /// Parses any of the forms (R1) and repairs it (R2, R3).
    ///
    /// The system that made it is not recorded in it; without `system` a byte range in the form that only iOS
    /// 11 writes is dropped, which loses nothing, since the count of bytes received has the same information.
    package init(_ bytes: [UInt8], madeBy system: System? = nil) throws(PropertyList.Fault) {
        let list = try PropertyList(bytes)
        let archive = KeyedArchive(list)
        let outer = archive.map { $0.plain($0.root) } ?? list
        guard let fields = outer?.dictionary else { throw PropertyList.Fault(words: "it contains no dictionary") }
        guard fields[Key.address]?.string?.isEmpty == false else {
            throw PropertyList.Fault(words: "it contains no URL")
        }
        guard let received = fields[Key.received]?.integer, received >= 0 else {
            throw PropertyList.Fault(words: "it contains no count of received bytes")
        }
        self.fields = fields
        repairRequest(Key.current)
        repairRequest(Key.original)
        let isFaulty = system.map { System(major: 11, minor: 0)..<System(major: 11, minor: 3) ~= $0 }
        if isFaulty ?? (archive == nil && version == 4), self.fields.removeValue(forKey: Key.byteRange) != nil {
            repairs.insert(.byteRange)
        }
    }

    /// New resume data.
    package init(_ request: AppleRequest, received: Int64, partialName: String) {
        fields = [
            Key.address: .string(request.address), Key.received: .integer(received), Key.version: .integer(2),
            Key.partialName: .string(partialName),
        ]
        for key in [Key.current, Key.original] { fields[key] = .data(RequestArchive(request).bytes) }
    }

    /// A plain property list, which every version of Apple's reader accepts.
    package var bytes: [UInt8] { PropertyList.dictionary(fields).bytes }

    private mutating func repairRequest(_ key: String) {
        guard let bytes = fields[key]?.data else { return }
        if let archive = RequestArchive(bytes) {
            guard archive.isRepaired else { return }
            fields[key] = .data(archive.bytes)
            repairs.insert(.request)
        } else {
            fields[key] = .data(RequestArchive(AppleRequest(address: address)).bytes)
            repairs.insert(.lostRequest)
        }
    }
}

// Reading of fields.
extension AppleResumeData {
    package var address: String { fields[Key.address]?.string ?? "" }
    package var version: Int {
        fields[Key.version]?.integer.flatMap { Int(exactly: $0) } ?? (fields[Key.partialName] == nil ? 1 : 2)
    }
    package var byteRange: String? { fields[Key.byteRange]?.string }
    package var currentRequest: AppleRequest? { request(Key.current) }
    package var originalRequest: AppleRequest? { request(Key.original) }

    package var received: Int64 {
        get { fields[Key.received]?.integer ?? 0 }
        set { fields[Key.received] = .integer(max(0, newValue)) }
    }

    package var entityTag: String? {
        get { fields[Key.entityTag]?.string }
        set { fields[Key.entityTag] = newValue.map { .string($0) } }
    }

    /// The Last-Modified field as the server sent it.
    package var serverDate: String? {
        get { fields[Key.serverDate]?.string }
        set { fields[Key.serverDate] = newValue.map { .string($0) } }
    }

    /// R4: one path component, to be looked up in the current folder; a path inside it is of an earlier
    /// launch.
    package var partialName: String? {
        let name = version > 1 ? fields[Key.partialName]?.string : nil
        guard let text = name ?? fields[Key.localPath]?.string, let last = text.pathParts().last, last != ".",
            last != "..", !last.utf8.contains(0)
        else { return nil }
        return String(last)
    }

    package var validators: Validators {
        Validators(
            entityTag: entityTag.flatMap { EntityTag(parsing: Array($0.utf8)) },
            lastModified: serverDate.flatMap { UnixTime(httpDate: $0) }, date: nil)
    }

    /// Whose validators they are: that of the last request, which a redirect may have led elsewhere than `address`, as an
    /// app may that changes only that field.
    private var validatorAddress: String? {
        fields[Key.validatorAddress]?.string ?? currentRequest?.address ?? originalRequest?.address
    }

    /// The representation of the bytes on disk, as sent by `source`.
    package func representation(of source: WebAddress) -> Representation {
        let sender = validatorAddress.map { try? WebAddress.parse($0).address } ?? source
        guard !validators.isEmpty, let sender else { return Representation() }
        let record = ValidatorRecord(source: sender.text, host: sender.origin.text, validators: validators)
        return Representation(records: [record])
    }

    private func request(_ key: String) -> AppleRequest? { fields[key]?.data.flatMap { RequestArchive($0)?.request } }
}

// Decisions from the fields.
extension AppleResumeData {
    /// The source of the bytes to resume from (R5).
    package enum Supply: Hashable, Sendable {
        /// The partial has as many as were received.
        case partial
        /// The safe copy, in its full length.
        case safeCopy
        /// Neither: the download starts over.
        case nothing
    }

    /// R5: a partial that is missing or too short is replaced by the safe copy, whose length is the count
    /// received then.
    package mutating func supply(partialLength: Int64?, safeCopyLength: Int64?) -> Supply {
        if let partialLength, partialLength >= received { return .partial }
        received = safeCopyLength ?? 0
        return received > 0 ? .safeCopy : .nothing
    }

    /// R6: resume data of an error replaces older data only when it can be read.
    package static func better(of newer: [UInt8]?, than older: [UInt8]?) -> [UInt8]? {
        guard let newer, (try? AppleResumeData(newer)) != nil else { return older }
        return newer
    }

    /// R7: another address or other headers are written to all fields.
    ///
    /// The validators stay those of the former address: equal ones of another say nothing.
    package mutating func change(address: String, headers: [String: String]? = nil) {
        for (key, old) in [(Key.current, currentRequest), (Key.original, originalRequest)] {
            var request = old ?? AppleRequest(address: address)
            request.address = address
            if let headers { request.headers = headers }
            var archive = fields[key]?.data.flatMap { RequestArchive($0) } ?? RequestArchive(request)
            if !archive.change(request) { archive = RequestArchive(request) }
            fields[key] = .data(archive.bytes)
        }
        if fields[Key.validatorAddress] == nil, address != self.address {
            fields[Key.validatorAddress] = .string(self.address)
        }
        fields[Key.address] = .string(address)
    }
}
