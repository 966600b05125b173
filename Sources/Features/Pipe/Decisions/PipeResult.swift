package import PawlBase
import PawlHTTP

/// The result of a job: one line of the output of `pawl pipe`.
package struct PipeResult: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable { case ok, already, failed, refused }

    package var status: Status
    /// The exit code of the failure, 0 without one.
    package var code: UInt8 = 0
    package var reason: String?
    /// The reason without the address, for a summary.
    package var cause: String?
    /// The status of the last response.
    package var http: Int?
    package var bytes: Int64?
    /// The SHA-256 of the content in hexadecimal.
    package var sha256: String?
    /// The name of the file, or of the entry in the archive.
    package var key: String?
    /// The media type, without parameters.
    package var type: String?
    /// The URL of the response, if it is another one; without secrets.
    package var finalURL: String?
    package var attempts = 0
    package var seconds = 0.0

    package init(_ status: Status) { self.status = status }

    package init(_ failure: Failure, as status: Status = .failed) {
        self.status = status
        code = failure.code.rawValue
        explain(failure)
        http = failure.status
    }

    package mutating func explain(_ failure: Failure) {
        reason = failure.description
        let advice = failure.remedy.text
        let why = failure.fault == .privateAddress ? "private address" : failure.why
        cause = advice.isEmpty ? why : "\(why); \(advice)"
    }

    /// The names of the members that `pawl pipe` sets; a job's other members are copied.
    package static let names: Set<String> = [
        "id", "url", "status", "code", "reason", "http", "bytes", "sha256", "key", "type", "finalURL", "attempts",
        "seconds", "line",
    ]

    /// The line for a job, without its line feed.
    ///
    /// It includes `attempts` and `seconds`, which differ between runs.
    package func line(of job: PipeJob) -> [UInt8] {
        var line = ownMembers(of: job)
        addTimes(to: &line)
        for member in job.otherMembers { line.add(member.name, member.value) }
        return line.end()
    }

    /// The line of a job with `attempts` and `seconds`, and without them.
    package struct Lines: Sendable {
        package var timed: [UInt8]
        package var reproducible: [UInt8]

        package init(timed: [UInt8], reproducible: [UInt8]) { (self.timed, self.reproducible) = (timed, reproducible) }
    }

    /// Both lines, whose equal members are written once.
    package func lines(of job: PipeJob) -> Lines {
        var line = ownMembers(of: job)
        var timed = line
        addTimes(to: &timed)
        for member in job.otherMembers {
            line.add(member.name, member.value)
            timed.add(member.name, member.value)
        }
        return Lines(timed: timed.end(), reproducible: line.end())
    }

    private func addTimes(to line: inout JSON.ObjectText) {
        line.add("attempts", attempts)
        line.add("seconds", .number(Self.decimal(seconds)))
    }

    private func ownMembers(of job: PipeJob) -> JSON.ObjectText {
        var line = JSON.ObjectText()
        line.add("id", job.givenID)
        line.add("url", job.url)
        line.add("status", status.rawValue)
        line.add("code", Int(code))
        line.add("reason", reason)
        line.add("http", http)
        line.add("bytes", bytes.map { Int($0) })
        line.add("sha256", sha256)
        line.add("key", key)
        line.add("type", type)
        line.add("finalURL", finalURL)
        return line
    }

    /// The output for an invalid line of the input.
    package static func line(of refusal: PipeJob.Refusal) -> [UInt8] {
        func given(_ name: String) -> JSON { refusal.members.last { $0.name == name }?.value ?? .null }
        let own = [
            JSON.Member("id", given("id")), JSON.Member("url", given("url")),
            JSON.Member("status", .string(Status.refused.rawValue)),
            JSON.Member("code", .number(Failure.Code.badOption.rawValue)),
            JSON.Member("reason", .string(refusal.reason)), JSON.Member("line", .number(refusal.line)),
        ]
        return JSON.object(own + refusal.members.filter { !names.contains($0.name) }).utf8
    }

    /// The line for a job of a shard that was published earlier, made from its line in the manifest.
    package static func line(published line: [UInt8]) -> [UInt8] {
        guard case .object(var members)? = try? JSON.parse(line) else { return line }
        for index in members.indices where members[index].name == "status" {
            guard members[index].value == .string(Status.ok.rawValue) else { return line }
            members[index].value = .string(Status.already.rawValue)
        }
        return JSON.object(members).utf8
    }

    /// The same for a job that requests the same content.
    package func shared() -> PipeResult {
        var result = self
        result.attempts = 0
        result.seconds = 0
        return result
    }

    /// A number with three decimals.
    private static func decimal(_ seconds: Double) -> String {
        let thousandths = Int64(max(0, min(seconds, 1e12)) * 1000 + 0.5)
        let places = String(thousandths % 1000)
        return "\(thousandths / 1000).\(String(repeating: "0", count: 3 - places.count))\(places)"
    }
}
