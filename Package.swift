// swift-tools-version: 6.2
import PackageDescription

/// Where SwiftPM puts the packages that others depend on; those may not have flags of their own, and have only the
/// libraries: SwiftPM would warn about the C libraries of the service, and load its tests.
let isDependency = ["/checkouts/", "/registry/downloads/"].contains { Context.packageDirectory.contains($0) }
/// Two costs that release builds do without.
///
/// Overlapping accesses are detected in debug builds, with which all tests run; the checks cost a small file 3 % of its
/// instructions. Generic types are made from their arguments instead of from their names: for a name, the runtime searches
/// the conformances of the whole program, which cost a start 4 of 24 million instructions.
let optimized: [SwiftSetting] =
    isDependency
    ? []
    : [
        .unsafeFlags(
            ["-enforce-exclusivity=unchecked", "-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"],
            .when(configuration: .release))
    ]
/// The program does not depend on the folder in which it is built.
let folder = "\(Context.packageDirectory)=/pawl"
let reproducible: [SwiftSetting] =
    isDependency
    ? []
    : [.unsafeFlags(["-file-prefix-map", folder, "-file-compilation-dir", "/pawl"], .when(configuration: .release))]
let reproducibleC: [CSetting] =
    isDependency ? [] : [.unsafeFlags(["-ffile-prefix-map=\(folder)"], .when(configuration: .release))]
let strict: [SwiftSetting] =
    optimized + reproducible + [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]
let strictC: [CSetting] =
    [.treatAllWarnings(as: .error), .define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))]
    + (isDependency ? [] : [.unsafeFlags(["-fstack-protector-strong"])]) + reproducibleC
/// Every address of a library is looked up at the start, and the table of them is read-only from then on.
let hardened: [LinkerSetting] =
    isDependency ? [] : [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"])]

/// A module: its imports are held to the table in Documentation/Design.md by `make layers`.
func module(_ name: String, _ dependencies: [Target.Dependency], excluding folders: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies.map { dependency in
            // Without the trait, DownloadManager cannot be opened.
            guard case .byNameItem("PawlStore", _) = dependency else { return dependency }
            return .target(name: "PawlStore", condition: .when(traits: ["Queue"]))
        }, exclude: folders, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A small program that shows how the library is used; without the strict settings, as a reader's own would be.
func example(_ folder: String) -> Target {
    .executableTarget(
        name: "Example\(folder)", dependencies: ["Pawl", "PawlSession"], path: "Examples/\(folder)",
        swiftSettings: [.swiftLanguageMode(.v6)])
}

let examples = [
    "Background", "OneShot", "OfflineVideo", "Manager", "HostileServer", "ChangingAddress", "ModelHub", "OCILayer",
    "Artifact", "FeedImages",
]

let package = Package(
    name: "Pawl",
    products: [
        .library(name: "Pawl", targets: ["Pawl"]), .library(name: "PawlSession", targets: ["PawlSession"]),
        .library(name: "PawlFoundation", targets: ["PawlFoundation"]), .executable(name: "pawl", targets: ["PawlTool"]),
    ],
    traits: [
        .default(enabledTraits: ["Queue"]),
        .trait(name: "Queue", description: "DownloadManager and PawlSession, which need SQLite"),
    ],
    targets: [
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        // No pkg-config modules: SwiftPM would warn about a missing one, also in packages that use neither the service
        // nor the queue.
        .systemLibrary(name: "CWebSockets"), .systemLibrary(name: "CSQLite"),
        .target(name: "CPawlSystem", cSettings: strictC),
        // Loads libcurl when it is needed.
        .target(name: "CCurl", cSettings: strictC),

        module("PawlCore", []), module("PawlEngine", ["PawlCore"]),
        module("PawlSystem", ["PawlCore", "PawlEngine", "CPawlSystem"]),
        module("PawlCurl", ["PawlCore", "PawlEngine", "PawlSystem", "CCurl", "CTLS", "CPawlSystem"]),
        module("PawlDisk", ["PawlCore", "PawlEngine", "PawlSystem", "CPawlSystem", "CCrypto"]),
        module("PawlStore", ["PawlCore", "PawlEngine", "PawlSystem", "CPawlSystem", "CSQLite"]),
        module("PawlReach", ["PawlEngine", "PawlSystem"]),
        module("Pawl", ["PawlCore", "PawlEngine", "PawlSystem", "PawlCurl", "PawlDisk", "PawlReach", "PawlStore"]),
        // The page's files, as a part of the program.
        .target(name: "CPage", cSettings: strictC),
        module("PawlServer", ["Pawl", "PawlCore", "PawlSystem", "CWebSockets", "CPage"], excluding: ["Page/Assets"]),
        module("PawlFoundation", ["Pawl", "PawlCore", "PawlSession"]),
        module("PawlSession", ["Pawl", "PawlCore", "PawlSystem"]),
        module("PawlPipe", ["Pawl", "PawlCore", "PawlDisk", "PawlSystem"]),
        module("PawlCommands", ["Pawl", "PawlCore", "PawlPipe", "PawlSystem", "PawlServer"]),
        .executableTarget(
            name: "PawlTool", dependencies: ["PawlCommands"], swiftSettings: strict, linkerSettings: hardened),
        module("PawlTestKit", ["Pawl", "PawlCore", "PawlEngine", "PawlSystem", "CCrypto"]),
        .executableTarget(name: "QueueBench", dependencies: ["Pawl"], path: "Benchmarks/Queue", swiftSettings: strict),
        .executableTarget(name: "PawlSimulate", dependencies: ["PawlTestKit"], swiftSettings: strict),

        tests("PawlCoreTests", ["PawlCore", "PawlTestKit"]),
        tests("PawlEngineTests", ["Pawl", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlSystemTests", ["PawlSystem", "PawlEngine", "PawlCore", "PawlTestKit"]),
        tests("PawlDiskTests", ["PawlDisk", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem", "CPawlSystem"]),
        tests("PawlCurlTests", ["PawlCurl", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlStoreTests", ["PawlStore", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlReachTests", ["PawlReach", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlTestKitTests", ["PawlTestKit", "PawlCore"]),
        // Is killed while it works: what it leaves is looked at.
        .executableTarget(
            name: "QueueProgram", dependencies: ["Pawl"], path: "Tests/QueueProgram", swiftSettings: strict),
        tests("PawlTests", ["QueueProgram", "Pawl", "PawlEngine", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlFoundationTests", ["PawlFoundation", "PawlSession", "Pawl", "PawlTestKit", "PawlSystem"]),
        .executableTarget(
            name: "SessionProgram", dependencies: ["PawlSession"], path: "Tests/SessionProgram", swiftSettings: strict),
        tests("PawlSessionTests", ["SessionProgram", "PawlSession", "Pawl", "PawlTestKit", "PawlSystem"]),
        tests("ExamplesTests", examples.map { .target(name: "Example\($0)") } + ["PawlTestKit"]),
        tests("PawlServerTests", ["PawlServer", "Pawl", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests("PawlPageTests", ["PawlServer", "Pawl", "PawlCore", "PawlTestKit", "PawlSystem"]),
        tests(
            "PawlCommandsTests",
            ["PawlCommands", "PawlPipe", "PawlServer", "Pawl", "PawlCore", "PawlTestKit", "PawlSystem"]),
        .testTarget(
            name: "PawlFuzzTests",
            dependencies: ["PawlCore", "PawlEngine", "PawlCurl", "PawlReach", "Pawl", "PawlCommands", "PawlTestKit"],
            exclude: ["Corpus"], swiftSettings: strict),
        tests("PawlEndToEndTests", ["SessionProgram", "PawlTestKit", "PawlCore", "Pawl", "PawlSystem"]),
    ] + examples.map(example))

if isDependency {
    let libraries = package.targets.prefix { $0.name != "PawlTestKit" }.filter {
        !["CWebSockets", "CPage", "PawlServer", "PawlPipe", "PawlCommands", "PawlTool"].contains($0.name)
    }
    package.targets = libraries
    package.products.removeAll { $0.name == "pawl" }
}
