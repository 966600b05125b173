import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlGet
@testable import PawlTerminal

@Suite struct JSONTests {
    @Test(arguments: [
        ("plain", #""plain""#), (#"quote " and \ "#, #""quote \" and \\ ""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1F}\u{7F}\u{85}\u{2028}", #""\u0000\u001f\u007f\u0085\u2028""#), ("日本 🙂 /", #""日本 🙂 /""#),
        (String(decoding: [0x61, 0xFF, 0x62] as [UInt8], as: UTF8.self), "\"a\u{FFFD}b\""),
        ("e\u{301}\u{200D}", "\"e\u{301}\u{200D}\""),
    ]) func `strings are escaped so that one object is one line`(text: String, literal: String) {
        var object = JSONObject()
        object.set("k", text)
        #expect(object.line == "{\"k\":\(literal)}")
    }

    @Test func `numbers, booleans and null are written as JSON`() {
        var object = JSONObject()
        object.set("a", 1 as UInt8)
        object.set("b", Int64.min as Int64?)
        object.set("c", nil as Int64?)
        object.set("d", nil as String?)
        object.set("e", true)
        object.set("f", 12.3456, decimals: 2)
        object.set("g", -0.5, decimals: 1)
        object.set("h", .infinity, decimals: 1)
        object.set("i", nil, decimals: 1)
        #expect(
            object.line
                == #"{"a":1,"b":-9223372036854775808,"c":null,"d":null,"e":true,"f":12.34,"g":-0.5,"h":null,"i":null}"#)
    }

    @Test func `a member that is set again has its last value, in its first place`() {
        var object = JSONObject()
        object.set("a", 1)
        object.set("b", true)
        object.set("a", "x")
        object.set("c", 1e15, decimals: 1)
        #expect(object.line == #"{"a":"x","b":true,"c":null}"#)
    }

    @Test func `a report has the fields that Documentation JSON specifies`() {
        func line(_ kind: Report.Kind) -> String {
            JSONLines.line(Report(id: 7, source: "http://h/f", name: "f", kind: kind))
        }
        let error = PawlError(
            Failure(.timeout, "no response from", at: "http://h/f", because: "silence", remedy: "wait"))
        let head = #""id":7,"url":"http://h/f","name":"f""#
        let fields =
            #""code":2,"message":"no response from http://h/f: silence; wait","what":"no response from","#
            + #""place":"http://h/f","why":"silence","remedy":"wait""#
        #expect(line(.started(total: nil, resumedAt: 5)) == #"{"event":"started",\#(head),"total":null,"resumedAt":5}"#)
        #expect(line(.notice("so")) == #"{"event":"notice",\#(head),"message":"so"}"#)
        #expect(line(.retry(error, delay: 1.5)) == #"{"event":"retry",\#(head),\#(fields),"delay":1.500}"#)
        #expect(line(.waitingForNetwork) == #"{"event":"waitingForNetwork",\#(head)}"#)
        #expect(line(.verifying) == #"{"event":"verifying",\#(head)}"#)
        #expect(line(.paused) == #"{"event":"paused",\#(head)}"#)
        #expect(line(.failed(error)) == #"{"event":"failed",\#(head),\#(fields)}"#)
        let file = DownloadedFile(path: "./f", length: 9, received: 4, duration: .milliseconds(250), wasThere: false)
        #expect(
            line(.finished(file))
                == #"{"event":"finished",\#(head),"path":"./f","length":9,"received":4,"seconds":0.250,"wasThere":false,"verification":null}"#
        )
    }

    @Test func `A6 progress of unknown size has no percent`() {
        var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 3), source: "http://h/f", state: .transferring)
        (snapshot.name, snapshot.written, snapshot.received) = ("f", 50, 60)
        (snapshot.speed, snapshot.smoothedSpeed, snapshot.connections) = (10, 11, 2)
        let head = #"{"event":"progress","id":3,"url":"http://h/f","name":"f","state":"transferring","written":50"#
        #expect(
            JSONLines.progress(snapshot) == head
                + #","total":null,"percent":null,"received":60,"speed":10,"smoothedSpeed":11,"#
                + #""timeLeft":null,"connections":2}"#)
        snapshot.total = 150
        snapshot.timeLeft = .milliseconds(9060)
        #expect(
            JSONLines.progress(snapshot) == head
                + #","total":150,"percent":33.33,"received":60,"speed":10,"smoothedSpeed":11,"#
                + #""timeLeft":9.0,"connections":2}"#)
    }
}
