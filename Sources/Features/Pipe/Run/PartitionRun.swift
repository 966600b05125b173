import PawlBase
import PawlGet
import PawlSystem

/// `pawl pipe --partition`: puts the number of its worker before each line.
struct PartitionRun {
    private let count: Int
    private var input: PipeInput
    private let configuration: PipeConfiguration
    private let output: ResultWriter

    init(_ count: Int, _ configuration: PipeConfiguration, _ inbox: PipeInbox) {
        self.count = count
        input = PipeInput(inbox)
        self.configuration = configuration
        output = ResultWriter(configuration.output, inbox)
    }

    mutating func run() throws(Failure) -> Int32 {
        input.read(from: configuration.input, to: configuration.endLine)
        while !input.isExhausted {
            if try hear(input.wait(until: nil, wantsLines: output.hasRoom)) { return 7 }
            while output.hasRoom, let line = input.nextLine() {
                let number = HostPartition.number(of: line, among: count)
                output.append(Array("\(number)\t".utf8) + (line.bytes ?? PipeJob.standIn(forLine: line.number)))
            }
        }
        while !output.drain(until: SystemClock().now + .milliseconds(100)) {
            if try hear(input.wait(until: SystemClock().now, wantsLines: false)) { return 7 }
        }
        _ = try hear(input.wait(until: SystemClock().now, wantsLines: false))
        return 0
    }

    /// Whether the run was stopped.
    private func hear(_ messages: [PipeMessage]) throws(Failure) -> Bool {
        for message in messages {
            switch message {
            case .stop: return true
            case .inputFailed(let failure), .outputFailed(let failure), .sinkFailed(let failure): throw failure
            case .event, .stored, .lookedUp, .redirected, .outputDrained, .lines, .inputEnded: break
            }
        }
        return false
    }
}
