import Glibc
import PawlTestKit
import Testing

/// The example of the full manager.
@Suite struct ManagerExampleTests {
    private let payload = Payload(seed: 950, length: 2_000_000)

    /// Content that stalls in the middle until it is released.
    private func serve(_ bench: ExampleBench, _ path: String) -> String {
        bench.origin.serve(path, payload) { $0.cut = .stall(at: 1_000_000) }
    }

    private func mend(_ bench: ExampleBench, _ paths: String...) {
        for path in paths {
            bench.origin.adjust(path) { $0.cut = nil }
            bench.origin.waitUntilQuiet(path)
        }
    }

    @Test func `D7 D8 D12 it queues, forces a start, and a relaunch after a kill resumes`() throws {
        let bench = try ExampleBench()
        let (a, b) = (serve(bench, "/a"), serve(bench, "/b"))
        let words = ["slots", "1", "add", a, "start", "1", "add", b, "list", "now", "2", "start", "2", "list", "wait"]
        let first = try bench.start("Manager", [bench.folder.path] + words)
        #expect(first.line { $0 == "now true" } != nil, "\(first.lines) \(first.errors)")
        #expect(first.line { $0.hasPrefix("a preempted") } != nil, "\(first.lines) \(first.errors)")
        #expect(bench.origin.wait(bytes: 1_000_000, of: "/b"))
        first.send(SIGKILL)
        first.wait()
        #expect(first.lines.contains { $0.hasPrefix("\(b) waiting") }, "\(first.lines)")
        mend(bench, "/a", "/b")
        let second = try bench.run("Manager", bench.folder.path, "wait", "list")
        #expect(second.lines.suffix(3) == ["all downloads ended", "a finished 100.00 %", "b finished 100.00 %"])
        #expect(bench.files == ["a", "b"])
        for name in bench.files { #expect(bench.folder.difference(name, from: payload) == nil) }
    }

    @Test func `D14 D15 D16 it renames, pauses and deletes`() throws {
        let bench = try ExampleBench()
        let (a, b) = (bench.origin.serve("/a", payload), serve(bench, "/b"))
        let first = try bench.run(
            "Manager", bench.folder.path, "add", a, "wait", "rename", "1", "film", "add", b, "start", "2", "pause", "2",
            "list")
        #expect(first.lines.contains("rename true"), "\(first.lines) \(first.errors)")
        #expect(first.lines.contains("pause true"))
        #expect(first.lines.contains("film finished 100.00 %"))
        #expect(bench.folder.difference("film", from: payload) == nil)
        let second = try bench.run("Manager", bench.folder.path, "list", "delete", "2", "delete", "1", "list")
        #expect(second.lines.first == "film finished 100.00 %", "\(second.lines)")
        #expect(second.lines.dropFirst().first?.hasPrefix("b paused") == true, "\(second.lines)")
        #expect(second.lines.suffix(2) == ["delete true", "delete true"])
        #expect(bench.files.isEmpty, "\(bench.files)")
    }

    @Test func `D3 its resume data is resumed`() throws {
        let bench = try ExampleBench()
        let a = serve(bench, "/a")
        let file = bench.folder.path(".data")
        let first = try bench.run("Manager", bench.folder.path, "add", a, "start", "1", "pause", "1")
        #expect(first.lines.last == "pause true", "\(first.lines) \(first.errors)")
        mend(bench, "/a")
        let second = try bench.run("Manager", bench.folder.path, "data", "1", file, "from", file)
        #expect(second.lines.last?.hasPrefix("resumed at ") == true, "\(second.lines) \(second.errors)")
        #expect(FileSystem.difference(of: bench.folder.path("from/a"), from: payload) == nil)
        #expect(bench.origin.ended("/a").last?.bodyStart ?? 0 > 0)
    }
}
