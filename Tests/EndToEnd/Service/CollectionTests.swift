import Glibc
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// Collections in the queue of the service, with a hub and a registry of another language.
@Suite(
    .ownThreads,
    .enabled(
        if: PawlBinary.isBuilt && ServerProcess.isInstalled("python3") && ServerProcess.isInstalled("curl"),
        "needs the built program, python3 and curl")) struct `Collections of the service`
{
    private let house: ServiceHouse
    private let hub: HubServer

    init() throws {
        house = try ServiceHouse()
        hub = try HubServer()
    }

    private func serve() throws -> PawlProcess {
        let service = try house.start(
            ["serve"], more: ["HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"])
        try #require(service.line(in: .err, atMost: .patience) { $0.contains("serving") } != nil, "\(service.errors)")
        return service
    }

    private func payload(_ number: Int) -> Payload { Payload(seed: UInt64(number) + 500, length: 66_000) }

    private func fill(_ count: Int) throws {
        for number in 0..<count { try hub.put("data/f\(number).bin", payload(number).bytes) }
    }

    /// The only collection, when it is as wanted.
    private func row(until isWanted: (JSON) -> Bool) throws -> JSON {
        for _ in 1...4_000 {
            let rows = try house.ask("list")
            if let row = rows.first(where: { $0["files"] != nil }), isWanted(row) { return row }
        }
        Issue.record("the collection did not come so far: \(try house.ask("list").map(\.text))")
        return .null
    }

    private func hasEnded(_ row: JSON) -> Bool { ["finished", "failed"].contains(row["state"]?.string) }

    private func requested() throws -> [String] {
        try hub.log().compactMap { $0["path"]?.string }.filter { $0.contains("/resolve/") }
    }

    @Test func `a collection is one row, and after kills nothing that finished is requested again`() throws {
        let count = 450
        try fill(count)
        try hub.control(#"{"pace":0.01}"#)
        var service = try serve()
        let added = try #require(try house.ask("add", "hf://org/model").last)
        let id = try #require(added["id"]?.string)
        #expect(id.utf8.first == UInt8(ascii: "g") && id.utf8.count == 16)
        for wanted in [40, 150, 300] {
            _ = try row { $0["files"]?["done"]?.integer ?? 0 >= Int64(wanted) }
            service.send(SIGKILL)
            #expect(service.wait() == .signal(SIGKILL))
            // A name is given to nothing but a complete file.
            let names = FileSystem.names(in: house.folder.path("root/model/data")).filter {
                $0.hasPrefix("f") && $0.hasSuffix(".bin")
            }
            #expect(names.count >= wanted)
            try hub.forget()
            service = try serve()
            let status = try row {
                $0["files"]?["isListed"]?.bool == true && $0["files"]?["done"]?.integer ?? 0 > Int64(wanted)
            }
            #expect(status["id"]?.string == id && status["files"]?["listed"]?.integer == Int64(count))
            let again = try requested()
            #expect(!again.isEmpty && names.allSatisfy { name in !again.contains { $0.hasSuffix("/data/\(name)") } })
            // No more than a portion of them is in the queue.
            let members = try house.ask("list", "--group", id)
            #expect(members.count { $0["state"]?.string != "finished" } <= 200)
            #expect(members.allSatisfy { $0["group"]?.string == id })
        }
        try hub.control(#"{"pace":0}"#)
        let end = try row(until: hasEnded)
        #expect(end["state"]?.string == "finished" && end["files"]?["done"]?.integer == Int64(count), "\(end.text)")
        #expect(end["written"]?.integer == Int64(count) * 66_000)
        for number in 0..<count { #expect(house.difference("model/data/f\(number).bin", from: payload(number)) == nil) }
        #expect(try house.ask("list").count == 1)
        #expect(try house.ask("list", "--group", id).isEmpty)
        try house.run("stop")
        service.wait()
    }

    @Test func `it is paused, resumed and removed as a whole, and files that are complete stay`() throws {
        try fill(60)
        try hub.control(#"{"pace":0.05}"#)
        var service = try serve()
        let id = try house.add("hf://org/model", "-d", "here")
        // The same again is the same.
        #expect(try house.ask("add", "hf://org/model", "-d", "here").last?["known"]?.bool == true)
        _ = try row { $0["files"]?["done"]?.integer ?? 0 >= 5 }
        #expect(try house.ask("pause", String(id.prefix(5))).first?["changed"]?.bool == true)
        let paused = try row { _ in true }
        #expect(paused["state"]?.string == "paused")
        // So it is in the next run of the service, which requests nothing for it.
        service.send(SIGKILL)
        service.wait()
        try hub.forget()
        service = try serve()
        let still = try row { _ in true }
        #expect(still["state"]?.string == "paused" && still["files"]?["done"]?.integer ?? 0 >= 5, "\(still.text)")
        #expect(try hub.log().isEmpty)
        let shown = try house.run("show", id)
        #expect(shown.output.contains("of 60 files") && shown.output.contains("hf://org/model"), "\(shown.output)")
        #expect(try house.ask("resume", id).first?["changed"]?.bool == true)
        _ = try row { $0["files"]?["done"]?.integer ?? 0 >= 15 }
        #expect(try house.ask("remove", "--yes", id).first?["changed"]?.bool == true)
        #expect(try house.ask("list").isEmpty && house.ask("list", "--group", id).isEmpty)
        let names = FileSystem.names(in: house.folder.path("root/here/data"))
        #expect(names.count >= 15 && names.allSatisfy { $0.hasSuffix(".bin") }, "\(names)")
        // The next run of the service knows nothing of it either.
        try house.run("stop")
        service.wait()
        let next = try serve()
        #expect(try house.ask("list").isEmpty)
        try house.run("stop")
        next.wait()
    }

    @Test func `of a branch that has moved between two runs only the new commit is fetched`() throws {
        try fill(300)
        try hub.control(#"{"pace":0.05}"#)
        var service = try serve()
        let id = try house.add("hf://org/model")
        _ = try row { $0["files"]?["done"]?.integer ?? 0 >= 20 }
        service.send(SIGKILL)
        service.wait()
        // One file has changed, one is gone, one is new.
        let queued = FileSystem.names(in: house.folder.path("root/model/data")).filter { $0.hasSuffix(".part") }
        #expect(!queued.isEmpty)
        let done = FileSystem.names(in: house.folder.path("root/model/data"))
        let rest = (0..<300).filter { !done.contains("f\($0).bin") }
        let (changed, gone) = (rest[rest.count / 2], rest[rest.count / 2 + 1])
        try hub.put("data/f\(changed).bin", payload(900).bytes)
        try hub.put("data/new.bin", payload(901).bytes)
        #expect(unsafe unlink(hub.folder.path("files/models/org/model/data/f\(gone).bin")) == 0)
        try hub.control(#"{"pace":0}"#)
        service = try serve()
        let end = try row(until: hasEnded)
        #expect(end["state"]?.string == "finished" && end["files"]?["listed"]?.integer == 300, "\(end.text)")
        #expect(house.difference("model/data/f\(changed).bin", from: payload(900)) == nil)
        #expect(house.difference("model/data/new.bin", from: payload(901)) == nil)
        let names = FileSystem.names(in: house.folder.path("root/model/data"))
        // No second file of a name; the one that is gone may have been complete before that was known.
        let expected = Set((0..<300).map { "f\($0).bin" } + ["new.bin"])
        #expect(Set(names).subtracting(expected).isEmpty && names.count >= 300, "\(names.sorted())")
        #expect(end["files"]?["done"]?.integer == 300, "\(end.text)")
        #expect(try house.ask("list", "--group", id).isEmpty)
        try house.run("stop")
        service.wait()
    }

    private func call(_ method: String) throws -> JSON {
        let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":[]}"#
        let reply = try PawlProcess.run(
            "/usr/bin/curl",
            ["-sS", "--unix-socket", house.folder.path("socket"), "-d", text, "http://pawl/jsonrpc"])
        return try JSON.parse(reply.output)["result"] ?? .null
    }

    @Test func `clients of aria2 stop and continue it with all others, and it is exported`() throws {
        try fill(60)
        try hub.control(#"{"pace":0.05}"#)
        let service = try serve()
        let id = try house.add("hf://org/model", "-d", "here", "--exclude", "x*", "--priority", "3")
        _ = try row { $0["files"]?["done"]?.integer ?? 0 >= 5 }
        #expect(try call("aria2.pauseAll") == "OK")
        #expect(try row { _ in true }["state"]?.string == "paused")
        let exported = try #require(try call("pawl.export").array)
        #expect(exported.count == 1 && exported[0]["url"]?.string == "hf://org/model", "\(exported.map(\.text))")
        #expect(exported[0]["folder"]?.string == "here" && exported[0]["start"]?.string == "paused")
        #expect(exported[0]["listing"]?["rules"]?.array == ["-x*"] && exported[0]["priority"]?.integer == 3)
        #expect(try call("aria2.unpauseAll") == "OK")
        try hub.control(#"{"pace":0}"#)
        #expect(try house.run("wait", id).exit == .code(0))
        #expect(try call("pawl.export") == [])
        try house.run("stop")
        service.wait()
    }

    @Test func `what fails stays to be seen, and is tried again`() throws {
        try fill(3)
        try hub.control(#"{"flip":["data/f1.bin"]}"#)
        let service = try serve()
        let id = try house.add("hf://org/model")
        let failed = try row(until: hasEnded)
        #expect(failed["state"]?.string == "failed" && failed["files"]?["done"]?.integer == 2, "\(failed.text)")
        let why = try #require(failed["error"]?["why"]?.string)
        #expect(why.hasPrefix("1 of its files failed") && why.contains("f1.bin"), "\(why)")
        #expect(failed["error"]?["code"]?.integer == 32)
        // Every surface tells why, and the program that waits ends with the code.
        for command in [["list"], ["show", id]] {
            let process = try house.start(command)
            #expect(process.wait() == .code(0))
            #expect(process.lines.joined(separator: " ").contains("checksum mismatch: f1.bin"), "\(process.lines)")
        }
        #expect(try house.run("wait", id).exit == .code(32))
        let members = try house.ask("list", "--group", String(id.prefix(4)))
        #expect(members.count == 1 && members[0]["error"]?["code"]?.integer == 32)
        #expect(try house.ask("list", "--group", "games").isEmpty)
        try hub.control(#"{"flip":[]}"#)
        try house.run("start-over", try #require(members[0]["id"]?.string))
        try house.run("resume", id)
        #expect(try house.run("wait", id).exit == .code(0))
        let end = try row { $0["state"]?.string == "finished" }
        #expect(end["files"]?["done"]?.integer == 3 && end["error"] == .null)
        #expect(house.difference("model/data/f1.bin", from: payload(1)) == nil)
        // A hub that does not know it, in a sentence.
        try house.run("remove", "--yes", id)
        _ = try house.add("hf://org/none")
        let none = try row(until: hasEnded)
        #expect(none["error"]?["message"]?.string?.contains("no such repository") == true, "\(none.text)")
        #expect(none["error"]?["code"]?.integer == 24 && none["percent"] == .null && none["total"] == .null)
        for arguments in [
            ["--recursive", "\(house.origin.root)/file"], ["--platform", "linux/amd64", "hf://org/model"],
        ] {
            let refused = try house.start(["add"] + arguments)
            #expect([.code(28), .code(0)].contains(refused.wait()), "\(refused.errors)")
        }
        try house.run("stop")
        service.wait()
    }

    @Test func `an image becomes a layout with its index, and the stream of events tells`() throws {
        let registry = try RegistryServer()
        let service = try serve()
        let stream = try PawlProcess(
            "/usr/bin/curl", ["-sN", "--unix-socket", house.folder.path("socket"), "http://pawl/events"])
        let image = "oci://\(registry.name)/org/img:v1"
        _ = try house.add(image, "--platform", "linux/amd64")
        let end = try row(until: hasEnded)
        #expect(end["state"]?.string == "finished" && end["files"]?["done"]?.integer == 3, "\(end.text)")
        let index = try #require(FileSystem.contents(house.folder.path("root/img/index.json")))
        #expect(try JSON.parse(index)["manifests"]?.array?.count == 1)
        let told = stream.line(in: .out, atMost: .patience) {
            $0.contains(#""event":"collection""#) && $0.contains("finished")
        }
        #expect(told != nil, "\(stream.output)")
        stream.send(SIGKILL)
        stream.wait()
        try house.run("stop")
        service.wait()
    }
}
