import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Commands whose service accepts connections and does not respond.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program"))
final class `A service that does not respond` {
    private let house: ServiceHouse
    private let service: pid_t

    init() throws {
        house = try ServiceHouse.serving()
        service = try house.servicePID()
    }

    deinit { kill(service, SIGCONT) }

    @Test func `every command says so and ends`() throws {
        let id = try house.add("--paused", house.origin.url("/f"))
        let waiting = try house.start("wait", id)
        kill(service, SIGSTOP)
        let commands = try [
            ["list"], ["status"], ["add", house.origin.url("/g")], ["pause", id], ["stop"], ["check", id],
            ["list", "--watch"],
        ].map { try (words: $0, process: house.start($0)) }
        let sentence = "pawl: no response from the Pawl service at \(house.folder.path("socket")): its process "
        let whole = sentence + "\(service) is stopped; 'kill -CONT \(service)' continues it\n"
        for (words, process) in commands + [(["wait"], waiting)] {
            #expect(process.wait() == .code(2), "\(words)")
            #expect(process.errors == whole, "\(words)")
        }
    }

    @Test func `a tool for language models returns the failure`() throws {
        kill(service, SIGSTOP)
        let call =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_downloads","arguments":{}}}"#
        let process = try PawlProcess(
            "/bin/sh", ["-c", "printf '%s\\n' '\(call)' | \(PawlBinary.path) mcp"], environment: house.environment)
        #expect(process.wait() == .code(0))
        let result = try JSON.parse(process.output)["result"]
        #expect(result?["isError"]?.bool == true)
        #expect(result?["content"]?.array?.first?["text"]?.string?.contains("is stopped") == true)
    }
}
