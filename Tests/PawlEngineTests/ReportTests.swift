import PawlCore
import PawlEngine
import PawlTestKit
import Testing

@Suite struct `What a download tells` {
    @Test func `a small file is told in order and ends with its path`() {
        let stage = Stage()
        let payload = stage.serve("a.bin", 100 * .kibi)
        let id = stage.start(Stage.job("a.bin"))
        stage.run()
        #expect(
            stage.tellings(id) == [
                .phase(.probing),
                .started(total: 100 * .kibi, resumedAt: 0),
                .phase(.transferring),
                .phase(.publishing),
                .phase(.finished),
                .finished(length: 100 * .kibi, wasThere: false),
            ]
        )
        #expect(stage.reports.last?.path == "/downloads/a.bin")
        #expect(stage.reports.last?.received == 100 * .kibi)
        stage.expect(payload, at: "a.bin")
        #expect(stage.world.disk.listing == ["/downloads/a.bin"])
    }
}
