import Glibc
import PawlTestKit
import Testing

/// A service is found as long as it runs, whatever happens to the files by which it is found.
@Suite(.serialized) struct ReachTests {
    private func waitForSocket(_ house: ServiceHouse) {
        while !FileSystem.exists(house.folder.path("socket")) { _ = poll(nil, 0, 10) }
    }

    @Test func `a socket that was deleted is made again, and commands wait for it`() throws {
        let house = try ServiceHouse.serving()
        let pid = try house.servicePID()
        for _ in 1...3 {
            FileSystem.remove(house.folder.path("socket"))
            FileSystem.remove(house.folder.path("socket.lock"))
            #expect(try house.servicePID() == pid)
            waitForSocket(house)
        }
        // No second service can take the place.
        let other = try house.run("serve", "--root", house.folder.path("other"), "--port", "none")
        #expect(other.exit == .code(11) && other.errors.contains("process \(pid)"))
        #expect(try house.run("stop").exit == .code(0))
        for _ in 1...2000 where kill(pid, 0) == 0 { _ = poll(nil, 0, 10) }
        #expect(kill(pid, 0) != 0)
    }

    @Test func `a service whose runtime folder is gone for good is found by its root, and stopped`() throws {
        let house = try ServiceHouse()
        let runtime = house.folder.path("runtime")
        _ = try PawlProcess.run("/bin/mkdir", ["-m", "700", runtime])
        let session = ["PAWL_SOCKET": "", "XDG_RUNTIME_DIR": runtime]
        func pawl(_ arguments: String..., in session: [String: String]) throws -> PawlProcess {
            let process = try house.start(arguments, more: session)
            process.wait()
            return process
        }
        #expect(try pawl("serve", "--background", in: session).exit == .code(0))
        // A file where the folder was: it cannot be made again, not even by root.
        FileSystem.remove(runtime)
        try FileSystem.write([], to: runtime)
        for other in [session, ["PAWL_SOCKET": "", "XDG_RUNTIME_DIR": ""]] {
            let status = try pawl("status", in: other)
            #expect(status.exit == .code(0) && status.output.contains(house.folder.path("root")))
        }
        let added = try pawl("add", "http://127.0.0.1:1/file", in: session)
        #expect(added.exit == .code(0), "\(added.errors)")
        #expect(try pawl("stop", in: session).exit == .code(0))
        #expect(try pawl("status", in: session).exit == .code(3))
    }

    /// It writes them again within a second: until then nothing leads to it.
    @Test func `a service whose runtime and state folders were removed together is found`() throws {
        let house = try ServiceHouse()
        let (runtime, state) = (house.folder.path("runtime"), house.folder.path("state"))
        _ = try PawlProcess.run("/bin/mkdir", ["-m", "700", runtime])
        let session = ["PAWL_SOCKET": "", "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": state]
        func pawl(_ arguments: String..., more: [String: String] = [:]) throws -> PawlProcess {
            let process = try house.start(arguments, more: session.merging(more) { _, new in new })
            process.wait()
            return process
        }
        #expect(try pawl("serve", "--background").exit == .code(0))
        for _ in 1...3 {
            FileSystem.remove(runtime)
            FileSystem.remove(state)
            // A client that knows nothing of the root.
            let status = try pawl("status", more: ["PAWL_ROOT": ""])
            #expect(status.exit == .code(0), "\(status.errors)")
        }
        #expect(try pawl("stop").exit == .code(0))
    }

    @Test func `nothing is added to a queue that was deleted under the service`() throws {
        let house = try ServiceHouse.serving()
        let root = house.folder.path("root")
        try FileSystem.move(root, to: house.folder.path("elsewhere"))
        let added = try house.run("add", "http://127.0.0.1:1/file")
        #expect(added.exit != .code(0) && added.errors.contains("it is not there any more"))
        try FileSystem.move(house.folder.path("elsewhere"), to: root)
        #expect(try house.run("add", "http://127.0.0.1:1/file").exit == .code(0))
    }

    @Test func `a hook that hangs does not hold up the end by 9 seconds`() throws {
        let house = try ServiceHouse()
        let hook = house.folder.path("hook")
        try FileSystem.write(Array("#!/bin/sh\necho > '\(house.folder.path("runs"))'\nexec sleep 60\n".utf8), to: hook)
        _ = try PawlProcess.run("/bin/chmod", ["755", hook])
        try house.run("serve", "--background", "--on-error", hook)
        _ = try house.add("http://127.0.0.1:1/file", "--retries", "0")
        while !FileSystem.exists(house.folder.path("runs")) { _ = poll(nil, 0, 10) }
        let pid = try house.servicePID()
        kill(pid, SIGTERM)
        // 9 seconds of the service's clock: a check per second.
        var left = 900
        while kill(pid, 0) == 0, left > 0 {
            _ = poll(nil, 0, 10)
            left -= 1
        }
        #expect(left > 0)
    }
}
