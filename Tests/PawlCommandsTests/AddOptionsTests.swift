import Testing

@testable import PawlCommands

/// The options of `pawl add`.
@Suite struct AddOptionsTests {
    @Test(arguments: ["stdout", "deny-private-addresses", "jobs", "quiet"])
    func `an option that the service could not honor is not an option of add`(name: String) {
        #expect(GetOptions.table.contains { $0.entry.names.contains(name) })
        #expect(!AddOptions.table.contains { $0.entry.names.contains(name) })
    }
}
