import Testing

@testable import PawlSystem

@Suite struct EnvironmentTests {
    @Test func `a missing variable has no value, and a folder is absolute`() {
        #expect(Environment.value("PATH")?.isEmpty == false && Environment.value("PAWL_NO_SUCH_VARIABLE") == nil)
        #expect(Environment.absolute("/var/tmp") == "/var/tmp")
        for other in [nil, "", "tmp", "./tmp", "~/tmp"] { #expect(Environment.absolute(other) == nil) }
    }
}
