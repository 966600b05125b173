/// The version of this library and of the `pawl` program.
public enum PawlVersion {
    /// Semantic version, such as `0.3.0`.
    public static let text = "0.3.0"
}
