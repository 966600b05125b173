package import PawlBase
import PawlGet
import PawlSystem

/// `pawl pipe --partition`: puts the number of its worker before each line.
package struct PartitionRun {
    private let count: Int
    private let inbox: PipeInbox
    private let configuration: PipeConfiguration
    private let output: ResultWriter

    package init(_ count: Int, _ configuration: PipeConfiguration, _ inbox: PipeInbox) {
        self.count = count
        self.inbox = inbox
        self.configuration = configuration
        output = ResultWriter(configuration.output, inbox)
    }

    package func run() throws(Failure) -> Int32 {
        inbox.read(from: configuration.input, to: configuration.endLine)
        while !inbox.isExhausted {
            if try hear(inbox.wait(until: nil, wantsLines: output.hasRoom)) { return 7 }
            while output.hasRoom, let line = inbox.nextLine() {
                let number = HostPartition.number(of: line, among: count)
                output.append(Array("\(number)\t".utf8) + (line.bytes ?? PipeJob.standIn(forLine: line.number)))
            }
        }
        while !output.drain(until: SystemClock().now + .milliseconds(100)) {
            if try hear(inbox.wait(until: SystemClock().now, wantsLines: false)) { return 7 }
        }
        _ = try hear(inbox.wait(until: SystemClock().now, wantsLines: false))
        return 0
    }

    /// Whether the run was stopped.
    private func hear(_ messages: [PipeInbox.Message]) throws(Failure) -> Bool {
        for message in messages {
            switch message {
            case .stop: return true
            case .inputFailed(let failure), .outputFailed(let failure), .sinkFailed(let failure): throw failure
            case .event, .stored, .lookedUp, .redirected, .outputDrained, .inputEnded: break
            }
        }
        return false
    }
}
