/// The policy for an existing finished file of the requested name.
package enum IfExists: String, Hashable, Sendable, CaseIterable {
    case rename
    case resume
    case overwrite
    case skip
    case fail
}
