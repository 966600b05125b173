import PawlTestKit
import Testing

/// A service whose web thread hangs, with the real program: the thread is stopped with ptrace.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The watchdog` {
    private func freeze(_ what: String) throws -> [String] {
        let process = try PawlProcess.run("/usr/bin/python3", ["-c", script, PawlBinary.path, what])
        #expect(process.exit == .code(0), "\(process.errors)")
        return process.lines
    }

    @Test func `a web thread that hangs makes the service restart, in the same process`() throws {
        #expect(try freeze("restart") == ["True", "True"])
    }

    @Test func `SIGTERM stops it although its web thread hangs`() throws { #expect(try freeze("stop") == ["True"]) }

    @Test func `systemd is notified that the service is ready, then each second that it responds, until it hangs`()
        throws
    {
        // READY, two keep-alive messages, then the process ends by SIGABRT after the last one.
        #expect(try freeze("notify") == ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "True"])
    }

    private let script = """
        import ctypes, os, pathlib, signal, socket, subprocess, sys, tempfile
        pawl, what = sys.argv[1:3]
        libc = ctypes.CDLL(None, use_errno=True)
        WALL, SEIZE, INTERRUPT = 0x40000000, 0x4206, 0x4207

        def responds(path):
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(300)
                    s.connect(path)
                    s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                    return b" 200 " in s.recv(1000)
            except OSError:
                return False

        def serves():
            while "serving" not in (line := process.stderr.readline()): assert line, "the service ended"

        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/socket"
            command = [pawl, "serve", "--root", folder + "/root", "--socket", path, "--port", "none"]
            environment = dict(os.environ, HOME=folder, XDG_STATE_HOME="")
            environment.pop("NOTIFY_SOCKET", None)
            supervisor = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            if what == "notify":
                supervisor.bind(folder + "/notify")
                supervisor.settimeout(300)
                environment.update(NOTIFY_SOCKET=folder + "/notify", WATCHDOG_USEC="60000000")
            process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
            serves()
            for _ in range(3 if what == "notify" else 0): print(supervisor.recv(100).decode())
            for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
                if (task / "comm").read_text().strip() == "pawl-web": frozen = int(task.name)
            assert libc.ptrace(SEIZE, frozen, 0, 0) == 0, os.strerror(ctypes.get_errno())
            assert libc.ptrace(INTERRUPT, frozen, 0, 0) == 0, os.strerror(ctypes.get_errno())
            os.waitpid(frozen, WALL)
            if what == "stop": process.send_signal(signal.SIGTERM)
            # It ends with its process, or with the program that the process ran.
            os.waitpid(frozen, WALL)
            if what == "stop":
                print(process.wait(300) > 0)
            elif what == "notify":
                print(process.wait(300) == -signal.SIGABRT)
            else:
                serves()
                print(responds(path) and process.poll() is None)
                process.send_signal(signal.SIGTERM)
                print(process.wait(300) == 0)
        """
}
