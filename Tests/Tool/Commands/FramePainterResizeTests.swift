import Testing

@testable import PawlBase
@testable import PawlCommands
@testable import PawlTerminal

/// The display on a model of a terminal that is resized while files finish.
@Suite struct FramePainterResizeTests {
    private struct Size {
        var width: Int
        var height: Int
    }

    /// When the program learns of a resize.
    enum Notice: CaseIterable {
        /// Before it draws again.
        case before
        /// After it has drawn for the old size.
        case late
        /// While the terminal reads what it draws.
        case during
    }

    private static let sizes = [
        (60, 24), (60, 8), (120, 24), (140, 12), (100, 30), (40, 10), (120, 40), (80, 5), (140, 24),
    ].map(Size.init)
    private static let started = ["$ one", "$ two", "$ three"]
    private static let finished = (10..<40).map {
        "/downloads/archive-\($0).tar.gz: finished, 195 KiB in 1.4s (134 KiB/s)"
    }

    /// What the history and the screen show after the run.
    private func run(seed: UInt64, _ notice: Notice) -> [String] {
        var dice = Dice(seed: seed)
        func below(_ limit: Int) -> Int { Int(dice.next() % UInt64(limit)) }
        var terminal = ModelTerminal(width: 120, height: 30)
        for line in Self.started { terminal.write(line + "\r\n") }
        var painter = FramePainter()
        var left = Self.finished[...]
        while !left.isEmpty {
            var next: Size?
            if below(8) == 0 { next = Self.sizes[below(Self.sizes.count)] }
            if let size = next, notice == .before { terminal.resize(width: size.width, height: size.height) }
            let known = Size(width: terminal.width, height: terminal.height)
            let permanent = left.prefix(below(2))
            left = left.dropFirst(permanent.count)
            let codes = painter.paint(
                permanent: Array(permanent), frame: frame(rows: 2 + below(3), known), width: known.width,
                screen: FramePainter.Screen(rows: known.height, narrowest: 40))
            // The terminal takes CR LF in one piece, as it was written.
            let cut = codes.index(codes.startIndex, offsetBy: notice == .during ? below(codes.count) : 0)
            terminal.write(codes[..<cut])
            if let size = next { terminal.resize(width: size.width, height: size.height) }
            terminal.write(codes[cut...])
        }
        terminal.write(painter.paint(permanent: [], frame: [], width: terminal.width))
        return terminal.lines
    }

    private func frame(rows: Int, _ size: Size) -> [StyledLine] {
        (0..<min(rows, size.height - 1)).map { number in
            var line = StyledLine()
            line.append("\(number) " + String(repeating: "-", count: size.width - 3))
            return line
        }
    }

    @Test(arguments: Notice.allCases) func `no line is lost, doubled or cut, whenever the program learns of a resize`(
        _ notice: Notice
    ) {
        for seed in 0..<60 as Range<UInt64> {
            let lines = run(seed: seed, notice)
            #expect(lines.filter { $0.contains("finished") } == Self.finished, "seed \(seed)")
            #expect(Array(lines.prefix(3)) == Self.started, "seed \(seed)")
        }
    }

    @Test(arguments: [Notice.before, .late])
    func `nothing of the display stays behind when the terminal takes each redraw in one piece`(_ notice: Notice) {
        for seed in 0..<60 as Range<UInt64> {
            #expect(run(seed: seed, notice) == Self.started + Self.finished, "seed \(seed)")
        }
    }
}
