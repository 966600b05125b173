package import PawlBase
import PawlHTTP
import PawlIntegrity

/// One line of the input of `pawl pipe`: a URL, or a JSON object with one.
package struct PipeJob: Hashable, Sendable {
    /// The line number, counted from 1.
    package var line: Int
    package var address: WebAddress
    /// The URL as written in the input.
    package var url: String
    /// The ID; a number is converted to its digits.
    package var id: String?
    /// `TYPE=HEX`, or several separated by commas.
    package var checksum: String?
    /// Header fields of the request, `NAME: VALUE`, in order.
    package var headers: [String]
    /// The requested file name, a relative path.
    package var out: String?
    /// The members of the object; `nil` for a line that is only a URL.
    private let given: [JSON.Member]?
    /// All members of the object except `headers`, which may contain secrets.
    package var members: [JSON.Member] { given ?? [JSON.Member("url", .string(url))] }
    /// Those that a result does not have.
    var otherMembers: [JSON.Member] { (given ?? []).filter { !PipeResult.names.contains($0.name) } }
    /// The `id` as in the object.
    var givenID: JSON { given?.last { $0.name == "id" }?.value ?? .null }

    /// An invalid line, with what could be parsed.
    package struct Refusal: Error, Hashable, Sendable {
        package var line: Int
        package var members: [JSON.Member]
        package var reason: String
    }

    /// The digests that its content must have: its checksum, and those in its URL's fragment.
    package var digests: [Checksum] { (checksum.flatMap(Checksum.list) ?? []) + stated }

    private var stated: [Checksum] { (try? DigestFragment.parse(url, of: address)) ?? [] }

    /// The URL without the digests in its fragment, which do not change what it names.
    package var source: String { stated.isEmpty ? url : String(url.prefix { $0 != "#" }) }

    package static func parse(_ line: PipeLines.Line) -> Result<PipeJob, Refusal> {
        guard let bytes = line.bytes else { return refusal(line, tooLong) }
        let text = bytes.trimmed(\.isWhiteSpace)
        guard !text.contains(0) else { return refusal(line, "the line contains a NUL character") }
        if text.first == UInt8(ascii: "{") { return parse(object: Array(text), line) }
        guard let url = String(validating: text, as: UTF8.self) else { return refusal(line, "the line is not UTF-8") }
        return make(line, url: url, members: nil)
    }

    private static let tooLong = "the line has \(PipeLines.limit >> 20) MiB or more"
    private static let refusedName = "refused"

    /// A line that is no job either, for one that is too long to be passed on: with its number in the input, and the
    /// reason for the result of the worker that gets it.
    package static func standIn(forLine number: Int) -> [UInt8] {
        let members: [JSON.Member] = [
            JSON.Member("url", .null), JSON.Member(refusedName, .string(tooLong)),
            JSON.Member("inputLine", .number("\(number)")),
        ]
        return Array(JSON.object(members).utf8)
    }

    /// The job of a failed result in a manifest; `nil` for any other result.
    package static func parse(failed line: PipeLines.Line) -> Result<PipeJob, Refusal>? {
        guard let bytes = line.bytes, let json = try? JSON.parse(bytes), let members = json.members else {
            return refusal(line, "the line is not from a manifest")
        }
        guard json["status"]?.string == "failed" else { return nil }
        let kept = members.filter { ["id", "url"].contains($0.name) || !PipeResult.names.contains($0.name) }
        return parse(object: JSON.object(kept).utf8, line)
    }

    private static func parse(object text: [UInt8], _ line: PipeLines.Line) -> Result<PipeJob, Refusal> {
        let json: JSON
        do throws(JSON.ParsingError) { json = try JSON.parse(text) } catch {
            return refusal(line, "the line is not JSON: \(error.why) at byte \(error.offset)")
        }
        let all = json.members ?? []
        let members = all.filter { $0.name != "headers" }
        guard let url = json["url"]?.string else {
            return refusal(line, json[refusedName]?.string ?? "the object has no text named url", members)
        }
        for name in ["checksum", "out"] {
            guard let value = json[name], value != .null, value.string == nil else { continue }
            return refusal(line, "\(name) is not a text", members)
        }
        guard let headers = headers(json["headers"]) else {
            return refusal(line, "headers is not an object of texts without line breaks", members)
        }
        let id: String?
        switch json["id"] {
        case nil, .some(.null): id = nil
        case .string(let text)?: id = text
        case .number(let text)?: id = text
        case .some: return refusal(line, "id is neither a text nor a number", members)
        }
        return make(
            line, url: url, id: id, checksum: json["checksum"]?.string, headers: headers, out: json["out"]?.string,
            members: members)
    }

    private static func headers(_ json: JSON?) -> [String]? {
        guard let json, json != .null else { return [] }
        guard let members = json.members else { return nil }
        var lines: [String] = []
        for member in members {
            guard let value = member.value.string, FieldText.isSafe(value), FieldText.isSafe(member.name),
                !member.name.isEmpty, member.name.utf8.allSatisfy(\.isTokenCharacter)
            else { return nil }
            lines.append("\(member.name): \(value)")
        }
        return lines
    }

    private static func make(
        _ line: PipeLines.Line, url: String, id: String? = nil, checksum: String? = nil, headers: [String] = [],
        out: String? = nil, members: [JSON.Member]?
    ) -> Result<PipeJob, Refusal> {
        func refuse(_ reason: String) -> Result<PipeJob, Refusal> {
            refusal(line, reason, members ?? [JSON.Member("url", .string(url))])
        }
        if let checksum, Checksum.list(checksum) == nil {
            return refuse("the checksum is not TYPE=HEX of a known type, nor one line of a sums file")
        }
        if let out, let flaw = SampleName.flaw(ofPath: out) { return refuse("out \(flaw)") }
        do throws(Failure) {
            let address = try WebAddress.parse(url).address
            _ = try DigestFragment.parse(url, of: address)
            return .success(
                PipeJob(
                    line: line.number, address: address,
                    // Thousands wait, and most URLs are written as the address is.
                    url: address.text.hasSameBytes(as: url) ? address.text : url, id: id, checksum: checksum,
                    headers: headers, out: out, given: members))
        } catch { return refuse(error.description) }
    }

    private static func refusal(
        _ line: PipeLines.Line, _ reason: String, _ members: [JSON.Member] = []
    ) -> Result<PipeJob, Refusal> { .failure(Refusal(line: line.number, members: members, reason: reason)) }
}

extension PipeJob {
    /// Equal for jobs that make the same request for the same content.
    package struct Request: Hashable, Sendable {
        /// By reference and with its hash: thousands of requests are remembered, and each is looked up several times.
        private final class Parts: Sendable {
            let url: String
            let headers: [String]
            let checksum: String?
            let hash: Int

            init(_ job: PipeJob) {
                (url, headers, checksum) = (job.url, job.headers, job.checksum)
                var hasher = Hasher()
                url.hashBytes(into: &hasher)
                headers.hashBytes(into: &hasher)
                hasher.combine(checksum)
                hash = hasher.finalize()
            }
        }

        private let parts: Parts

        fileprivate init(_ job: PipeJob) { parts = Parts(job) }

        package static func == (left: Request, right: Request) -> Bool {
            let (left, right) = (left.parts, right.parts)
            guard left !== right else { return true }
            return left.hash == right.hash && left.url.hasSameBytes(as: right.url)
                && left.headers.hasSameBytes(as: right.headers) && left.checksum == right.checksum
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
    }

    package var request: Request { Request(self) }
}
