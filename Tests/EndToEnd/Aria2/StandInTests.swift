import Glibc
import PawlBase
import PawlIntegrity
import PawlJournal
import PawlTestKit
import Testing

/// The program as a replacement for aria2c: called by its name, with its options, by its clients.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) final class `Replacement for aria2c` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 72, length: 3_000_001)
    private var program: String { folder.path("aria2c") }

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
        try #require(unsafe symlink(PawlBinary.path, folder.path("aria2c")) == 0)
    }

    deinit { origin.stop() }

    private func run(_ arguments: String...) throws -> PawlProcess {
        try PawlProcess.run(program, ["--no-conf", "-d", folder.path("d")] + arguments)
    }

    @Test func `several URLs are mirrors of one file, or files with -Z`() throws {
        let (first, second) = (origin.serve("/a", content), origin.serve("/b", content))
        let one = try run("-x4", "-s4", "--file-allocation=none", "--seed-time=0", "-o", "f", first, second)
        #expect(one.exit == .code(0))
        #expect(one.errors.contains("ignored options without effect: --seed-time"))
        #expect(folder.difference("d/f", from: content) == nil)
        #expect(!FileSystem.exists(folder.path("d/b")))
        #expect(try run("-Z", "-q", "-j2", first, second).exit == .code(0))
        #expect(folder.difference("d/a", from: content) == nil)
        #expect(folder.difference("d/b", from: content) == nil)
    }

    @Test(arguments: [Behaviour.Validators.strong, .none])
    func `one URL twice makes two files, in one run and in the next`(validators: Behaviour.Validators) throws {
        let url = origin.serve("/a.bin", content) { $0.validators = validators }
        #expect(try run("-Z", "-q", "-j1", url, url).exit == .code(0))
        #expect(try run("-q", url).exit == .code(0))
        #expect(FileSystem.names(in: folder.path("d")) == ["a.1.bin", "a.2.bin", "a.bin"])
    }

    @Test func `an input file and a configuration file mean the same as to aria2c`() throws {
        let list = folder.path("list")
        let (url, conf) = (origin.serve("/a", content), folder.path("conf"))
        try FileSystem.write(Array("\(url)\n  out=sub/x\n  dir=\(folder.path("e"))\n  seed-time=1\n".utf8), to: list)
        try FileSystem.write(Array("# mine\ninput-file=\(list)\nquiet=true\nnobody=1\n".utf8), to: conf)
        let process = try PawlProcess.run(program, ["--conf-path=\(conf)"])
        #expect(process.exit == .code(0), "\(process.errors)")
        #expect(process.errors.isEmpty)
        #expect(folder.difference("e/sub/x", from: content) == nil)
    }

    @Test func `a Metalink is fetched with its name and verified against its checksum`() throws {
        let url = origin.serve("/a", content)
        let path = folder.path("m.meta4")
        let sum = String(repeating: "0", count: 40)
        let text = "<metalink><file name='s/f'><hash type='sha-1'>\(sum)</hash><url>\(url)</url></file></metalink>"
        try FileSystem.write(Array(text.utf8), to: path)
        #expect(try run("-M", path).exit == .code(32))
        #expect(!FileSystem.exists(folder.path("d/s/f")))
        let plain = text.replacing("<hash type='sha-1'>\(sum)</hash>", with: "")
        try FileSystem.write(Array(plain.utf8), to: path)
        let get = try PawlProcess.run(PawlBinary.path, ["get", "-d", folder.path("g"), "--metalink", path])
        #expect(get.exit == .code(0), "\(get.errors)")
        #expect(folder.difference("g/s/f", from: content) == nil)
        let short = plain.replacing("<url>", with: "<size>3000000</size><url>")
        try FileSystem.write(Array(short.utf8), to: path)
        let refused = try PawlProcess.run(PawlBinary.path, ["get", "-d", folder.path("h"), "--metalink", path])
        #expect(refused.exit == .code(22))
        #expect(refused.errors.contains("it has 3000001 bytes instead of the expected 3000000"))
        #expect(!FileSystem.exists(folder.path("h/s/f")))
    }

    @Test func `-V fetches the wrong pieces alone, and --hash-check-only none`() throws {
        let bytes = content.bytes(in: ByteRange(0, content.length))
        let url = origin.serve("/a", content)
        let hashes = stride(from: 0, to: bytes.count, by: 1 << 18).map { start in
            let piece = Array(bytes[start..<min(bytes.count, start + 1 << 18)])
            return "<hash>\(Hexadecimal.text(MessageDigest5.digest(piece)))</hash>"
        }
        let path = folder.path("m.meta4")
        let text = """
            <metalink><file name='f'><size>\(bytes.count)</size><pieces length='262144' type='md5'>\(hashes.joined())\
            </pieces><url>\(url)</url></file></metalink>
            """
        try FileSystem.write(Array(text.utf8), to: path)
        var damaged = bytes
        damaged[1_000_000] ^= 1
        _ = try PawlProcess.run("/bin/mkdir", [folder.path("d")])
        try FileSystem.write(damaged, to: folder.path("d/f"))
        let only = try run("-V", "--hash-check-only=true", "-M", path)
        #expect(only.exit == .code(1) && only.output.contains("Checksum error detected"), "\(only.output)")
        #expect(FileSystem.contents(folder.path("d/f")) == damaged)
        #expect(origin.log.records.isEmpty)
        let repair = try run("-V", "-M", path)
        #expect(repair.exit == .code(0), "\(repair.output)\(repair.errors)")
        #expect(folder.difference("d/f", from: content) == nil)
        origin.waitUntilQuiet("/a")
        let sent = origin.log.bodySent("/a")
        #expect(sent > 0 && sent <= 2 << 18, "\(sent)")
        let right = try run("-V", "--hash-check-only=true", "-M", path)
        #expect(right.exit == .code(0) && right.output.contains("Verification finished successfully"))
        #expect(origin.log.bodySent("/a") == sent)
    }

    @Test func `event programs are run, a log is kept, and it exits at the given time`() throws {
        let (url, pipe, hook) = (origin.serve("/a", content), folder.path("pipe"), folder.path("hook"))
        _ = try PawlProcess.run("/usr/bin/mkfifo", [pipe])
        try FileSystem.write(Array("#!/bin/sh\necho \"$2 $3\" >\(pipe)\n".utf8), to: hook)
        _ = try PawlProcess.run("/bin/chmod", ["755", hook])
        let server = try PawlProcess(
            program,
            [
                "--no-conf", "--enable-rpc", "--rpc-listen-port=0", "-d", folder.path("d"),
                "--on-download-complete=\(hook)", "--log=\(folder.path("log"))", url,
            ])
        #expect(try PawlProcess.run("/bin/cat", [pipe]).output == "1 \(folder.path("d"))/a\n")
        server.send(SIGTERM)
        #expect(server.wait() == .code(0))
        let log = String(decoding: FileSystem.contents(folder.path("log")) ?? [], as: UTF8.self)
        #expect(log.contains(" finished "))
        #expect(try run("--enable-rpc", "--rpc-listen-port=0", "--stop=1").exit == .code(0))
        let note = folder.path("note")
        try FileSystem.write(Array("#!/bin/sh\necho \"$2 $3\" >\(note)\n".utf8), to: hook)
        // It ends when the event program has closed its output.
        let single = try run("--on-download-complete=\(hook)", "-o", "b", url)
        #expect(single.exit == .code(0))
        #expect(FileSystem.contents(note) == Array("1 \(folder.path("d"))/b\n".utf8))
    }

    @Test func `a log is not written through a link`() throws {
        let (victim, log) = (folder.path("victim"), folder.path("log"))
        try FileSystem.write(Array("precious".utf8), to: victim)
        unsafe symlink(victim, log)
        let process = try run("--log=\(log)", origin.serve("/a", content))
        #expect(process.exit == .code(1) && process.errors.contains("it is a symbolic link"), "\(process.errors)")
        #expect(FileSystem.contents(victim) == Array("precious".utf8))
    }

    @Test func `an invalid option ends with 28, and an open port without a secret stays on this machine`() throws {
        #expect(try run("--nobody").exit == .code(28))
        #expect(try run("--split=0", "http://h/").exit == .code(28))
        #expect(try run("--enable-rpc", "--rpc-secure").exit == .code(28))
        let open = try run("--enable-rpc", "--rpc-listen-all", "--rpc-listen-port=0", "--stop=1")
        #expect(open.exit == .code(0))
        #expect(open.errors.contains("listening on 127.0.0.1 only"))
        #expect(try run("--version").output.hasPrefix("aria2 version 1."))
    }

    /// The script of a client gets the port and the origin's URL.
    private func serve(_ options: [String], _ script: String, _ more: String...) throws -> (PawlProcess, [String]) {
        let port = try FreePort.choose()
        let server = try PawlProcess(
            program, ["--no-conf", "--enable-rpc", "--rpc-listen-port=\(port)", "-d", folder.path("d")] + options)
        let waiting = """
            import socket, sys
            port = int(sys.argv[1])
            while True:
                try: socket.create_connection(("127.0.0.1", port)).close(); break
                except OSError: pass

            """
        let client = try PawlProcess.run(PythonClients.path, ["-c", waiting + script, "\(port)"] + more)
        #expect(client.exit == .code(0), "\(client.errors)")
        return (server, client.lines)
    }

    @Test(.enabled(if: PythonClients.areThere, "PyPI could not be reached"))
    func `aria2p adds, watches, controls and stops it`() throws {
        let url = origin.serve("/f", content)
        let slow = origin.serve("/slow", content) { $0.pace = 100_000 }
        let script = """
            import aria2p
            api = aria2p.API(aria2p.Client(host="http://127.0.0.1", port=port, secret="s3cret"))
            url, slow, metalink = sys.argv[2:]
            try: aria2p.API(aria2p.Client(host="http://127.0.0.1", port=port, secret="no")).get_stats()
            except aria2p.ClientException as error: print(error.message)
            done = api.add_uris([url], options={"out": "p.bin"})
            while not done.is_complete: done.update()
            print(done.name, done.total_length, done.status, done.progress_string())
            other = api.add_uris([slow], options={"out": "q.bin", "max-download-limit": "50K"})
            while not other.completed_length: other.update()
            print(api.pause([other]), api.get_download(other.gid).status)
            print(api.get_download(other.gid).options.max_download_limit)
            print(api.resume([other]), api.remove([other]), api.get_stats().num_stopped)
            [link] = api.add_metalink(metalink)
            while not link.is_complete: link.update()
            print(link.files[0].path.name)
            print(api.get_global_options().max_concurrent_downloads, api.client.save_session(), api.purge())
            print(len(api.get_downloads()), api.client.shutdown())
            """
        let link = folder.path("m.metalink")
        let text =
            "<metalink version='3.0'><files><file name='z'><resources><url>\(url)</url></resources></file></files></metalink>"
        try FileSystem.write(Array(text.utf8), to: link)
        let options = ["--rpc-secret=s3cret", "--save-session=\(folder.path("session"))", "-q"]
        let (server, lines) = try serve(options, script, url, slow, link)
        #expect(
            lines == [
                "Unauthorized", "p.bin 3000001 complete 100.00%", "[True] paused", "51200", "[True] [True] 1", "z",
                "5 OK True", "0 OK",
            ])
        #expect(server.wait(atMost: .patience) == .code(0))
        #expect(folder.difference("d/p.bin", from: content) == nil)
        #expect(folder.difference("d/z", from: content) == nil)
        #expect(FileSystem.contents(folder.path("session")) == [])
    }

    @Test(.enabled(if: PythonClients.areThere, "PyPI could not be reached"))
    func `a session continues in the next run, and XML-RPC is supported`() throws {
        let url = origin.serve("/f", content)
        let session = folder.path("session")
        let script = """
            import xmlrpc.client
            server = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}/rpc")
            if sys.argv[2] == "first":
                print(server.aria2.addUri([sys.argv[3]], {"pause": "true", "gid": "00000000000000cd", "out": "x"}))
            else:
                waiting = server.aria2.tellWaiting(0, 10, ["gid", "status"])
                print(waiting)
                print(server.aria2.getOption("cd" if False else "00000000000000cd")["out"])
                try: server.aria2.tellStatus("zz")
                except xmlrpc.client.Fault as fault: print(fault.faultCode, fault.faultString)
                print(server.system.multicall([{"methodName": "aria2.getGlobalStat", "params": []}])[0][0]["numWaiting"])
            print(server.aria2.forceShutdown())
            """
        let (first, lines) = try serve(["--save-session=\(session)"], script, "first", url)
        #expect(lines == ["00000000000000cd", "OK"])
        #expect(first.wait(atMost: .patience) == .code(0))
        let saved = try #require(FileSystem.contents(session))
        #expect(String(decoding: saved, as: UTF8.self) == "\(url)\n gid=00000000000000cd\n pause=true\n out=x\n")
        // Another root: only the session file knows of it.
        let other = ["-d", folder.path("other"), "--input-file=\(session)", "--save-session=\(session)"]
        let (second, more) = try serve(other, script, "second", url)
        #expect(more == ["[{'gid': '00000000000000cd', 'status': 'paused'}]", "x", "1 Invalid GID zz", "1", "OK"])
        #expect(second.wait(atMost: .patience) == .code(0))
    }
}
