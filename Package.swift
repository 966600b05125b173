// swift-tools-version: 6.2
import PackageDescription

/// Where SwiftPM puts the packages that others depend on; those have only the libraries: SwiftPM would warn about the C
/// libraries of the service, and load its tests.
let isDependency = ["/checkouts/", "/registry/downloads/"].contains { Context.packageDirectory.contains($0) }
/// Two costs that release builds do without.
///
/// Overlapping accesses are detected in debug builds, with which all tests run; the checks cost a small file 3 % of its
/// instructions. Generic types are made from their arguments instead of from their names: for a name, the runtime searches
/// the conformances of the whole program, which cost a start 4 of 24 million instructions.
///
/// The files of a dependency do not change: its modules are compiled as a whole, a fifth less work for a debug build.
let optimized: [SwiftSetting] =
    isDependency
    ? [
        .unsafeFlags(
            ["-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo"],
            .when(configuration: .debug))
    ]
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

/// The trait without which a module is not built: see Documentation/Library.md.
let traits = [
    "PawlStore": "Queue", "PawlCurl": "Features", "PawlResumeData": "Features", "PawlS3": "Features",
    "PawlCollections": "Features", "PawlHub": "Features", "PawlRegistry": "Features", "PawlStreams": "Features",
    "PawlTorrent": "Features",
]

/// A module in a folder of Sources.
///
/// Its imports are held to the table in Documentation/Design.md by `make layers`. `apart` names its folders that belong to
/// other modules or to none.
func module(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], only folders: [String]? = nil,
    apart: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies.map { dependency in
            guard case .byNameItem(let name, _) = dependency, let trait = traits[name] else { return dependency }
            return .target(name: name, condition: .when(traits: [trait]))
        }, path: "Sources/\(folder)", exclude: ["README.md"] + apart, sources: folders,
        swiftSettings: strict)
}

func tests(_ name: String, in folder: String, _ dependencies: [Target.Dependency], apart: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["PawlTestKit", "PawlBase", "PawlSystem"], path: "Tests/\(folder)",
        exclude: apart,
        swiftSettings: strict)
}

/// A small program that shows how the library is used; without the strict settings, as a reader's own would be.
func example(_ folder: String) -> Target {
    .executableTarget(
        name: "Example\(folder)", dependencies: ["Pawl", "PawlSession"], path: "Examples/\(folder)",
        swiftSettings: [.swiftLanguageMode(.v6)])
}

/// Tests as those of a program that uses the library: they see what is public, without the strict settings.
func consumerTests(_ name: String, in folder: String) -> Target {
    .testTarget(
        name: name, dependencies: ["Pawl", "PawlSession", "PawlTesting"], path: "Tests/\(folder)",
        swiftSettings: [.swiftLanguageMode(.v6)])
}

let examples = [
    "Background", "OneShot", "OfflineVideo", "Manager", "HostileServer", "ChangingAddress", "ModelHub", "OCILayer",
    "Artifact", "FeedImages", "Mirror", "Player",
]

let package = Package(
    name: "Pawl",
    products: [
        .library(name: "Pawl", targets: ["Pawl"]), .library(name: "PawlSession", targets: ["PawlSession"]),
        .library(name: "PawlFoundation", targets: ["PawlFoundation"]),
        .library(name: "PawlTesting", targets: ["PawlTesting"]), .executable(name: "pawl", targets: ["PawlTool"]),
    ],
    traits: [
        .default(enabledTraits: ["Queue"]),
        .trait(
            name: "Queue", description: "DownloadManager and PawlSession, which need SQLite",
            enabledTraits: ["Features"]),
        .trait(
            name: "Features",
            description:
                "FTP and SFTP, streams, object stores, hubs, registries, folders, torrents, Apple's resume data"),
    ],
    targets: [
        .systemLibrary(
            name: "CCrypto", path: "Sources/C/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CTLS", path: "Sources/C/CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CHTTP2", path: "Sources/C/CHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        // No pkg-config modules: SwiftPM would warn about a missing one, also in packages that use neither the service
        // nor the queue.
        .systemLibrary(name: "CZlib", path: "Sources/C/CZlib"),
        .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite"),
        .target(name: "CPawlSystem", path: "Sources/C/CPawlSystem", cSettings: strictC),
        // Loads libcurl when it is needed.
        .target(name: "CCurl", path: "Sources/C/CCurl", cSettings: strictC),
        // The page's files, as a part of the program.
        .target(name: "CPage", path: "Sources/C/CPage", cSettings: strictC),
        // For simulated worlds.
        .target(name: "CFaultyFiles", dependencies: ["CSQLite"], path: "Sources/C/CFaultyFiles", cSettings: strictC),

        module("PawlBase", in: "Kernel/Base", []),
        module("PawlJournal", in: "Kernel/Journal", ["PawlBase"]),
        module("PawlCore", in: "Kernel/Core", ["PawlBase", "PawlJournal"]),
        module("PawlEngine", in: "Kernel/Engine", ["PawlBase", "PawlJournal", "PawlCore"]),
        module("PawlSystem", in: "Kernel/System", ["PawlBase", "CPawlSystem", "CZlib"]),
        module("PawlHTTP", in: "Kernel/HTTP", ["PawlBase", "PawlSystem", "CHTTP2", "CPawlSystem", "CTLS"]),
        module("PawlCurl", in: "Kernel/Curl", ["PawlBase", "PawlSystem", "PawlHTTP", "CCurl", "CPawlSystem"]),
        module("PawlDisk", in: "Kernel/Disk", ["PawlBase", "PawlJournal", "PawlSystem", "CCrypto", "CPawlSystem"]),
        module("PawlReach", in: "Kernel/Reach", ["PawlBase", "PawlSystem"]),
        module("PawlXML", in: "Library/XML", ["PawlBase"]),
        module("PawlQueue", in: "Library/Queue/Decisions", ["PawlBase"]),
        module(
            "PawlStore", in: "Library/Queue/Store", ["PawlBase", "PawlSystem", "PawlQueue", "CPawlSystem", "CSQLite"]),
        module("PawlResumeData", in: "Library/ResumeData", ["PawlBase", "PawlJournal", "PawlXML"]),
        module(
            "PawlIntegrity", in: "Features/Integrity",
            ["PawlBase", "PawlJournal", "PawlSystem", "PawlDisk", "PawlXML", "CCrypto", "CPawlSystem"],
            apart: ["Commands"]),
        module(
            "PawlS3", in: "Features/S3",
            ["PawlBase", "PawlJournal", "PawlSystem", "PawlHTTP", "PawlDisk", "PawlXML", "PawlCollections"]),
        module(
            "PawlCollections", in: "Features/Collections",
            ["PawlBase", "PawlJournal", "PawlSystem", "PawlDisk", "PawlIntegrity"], apart: ["Command"]),
        module(
            "PawlHub", in: "Features/Hub", ["PawlBase", "PawlSystem", "PawlHTTP", "PawlDisk", "PawlCollections"]),
        module(
            "PawlRegistry", in: "Features/Registry",
            ["PawlBase", "PawlJournal", "PawlSystem", "PawlHTTP", "PawlDisk", "PawlCollections"]),
        module("PawlStreams", in: "Features/Streams", ["PawlBase", "PawlXML", "CCrypto"]),
        module(
            "PawlTorrent", in: "Features/Torrent",
            ["PawlBase", "PawlSystem", "PawlHTTP", "PawlDisk", "PawlCollections"]),
        module("PawlIntake", in: "Library/Intake", ["PawlBase", "PawlIntegrity"]),
        module(
            "Pawl", in: "Library/Pawl",
            [
                "PawlBase", "PawlJournal", "PawlCore", "PawlEngine", "PawlSystem", "PawlHTTP", "PawlCurl", "PawlDisk",
                "PawlReach", "PawlQueue", "PawlStore", "PawlResumeData", "PawlIntegrity", "PawlS3", "PawlCollections",
                "PawlHub", "PawlRegistry", "PawlStreams", "PawlTorrent",
            ]),
        module("PawlSession", in: "Library/Session", ["PawlBase", "PawlJournal", "PawlSystem", "Pawl"]),
        module(
            "PawlFoundation", in: "Library/Foundation", ["PawlBase", "PawlCore", "Pawl", "PawlSession"]),
        module(
            "PawlTesting", in: "Library/Testing",
            ["PawlBase", "PawlJournal", "PawlSystem", "PawlHTTP", "PawlDisk", "Pawl"]),
        module(
            "PawlTestKit", in: "Testing/Kit",
            [
                "PawlBase", "PawlJournal", "PawlCore", "PawlEngine", "PawlSystem", "PawlHTTP", "PawlQueue", "PawlStore",
                "PawlDisk", "PawlIntegrity", "PawlCollections", "PawlStreams", "Pawl", "CCrypto", "CFaultyFiles",
            ]),
        module(
            "PawlWeb", in: "Service", ["PawlBase", "PawlSystem", "PawlHTTP", "PawlXML"], only: ["Web", "RPC"],
            apart: ["Server", "Web/README.md", "RPC/README.md"]
        ),
        module(
            "PawlServer", in: "Service/Server",
            ["PawlBase", "PawlJournal", "PawlCore", "PawlSystem", "PawlIntake", "Pawl", "PawlWeb", "CPage"],
            apart: ["Page/Assets"]),
        module(
            "PawlAria2", in: "Features/Aria2",
            [
                "PawlBase", "PawlJournal", "PawlCore", "PawlSystem", "PawlXML", "PawlIntegrity", "PawlCollections",
                "PawlIntake", "Pawl", "PawlWeb", "PawlServer",
            ],
            apart: ["Command"]),
        module(
            "PawlTerminal", in: "Tool/Terminal",
            ["PawlBase", "PawlSystem", "PawlIntake", "Pawl"]),
        module(
            "PawlGet", in: "Tool/Get",
            [
                "PawlBase", "PawlJournal", "PawlSystem", "PawlS3", "PawlCollections", "PawlIntake", "Pawl",
                "PawlTerminal",
            ]),
        module(
            "PawlCollectionsCommand", in: "Features/Collections/Command",
            ["PawlBase", "PawlCollections", "Pawl", "PawlTerminal", "PawlGet"]),
        module(
            "PawlPipe", in: "Features/Pipe",
            [
                "PawlBase", "PawlJournal", "PawlEngine", "PawlSystem", "PawlHTTP", "PawlDisk", "PawlIntegrity",
                "PawlS3", "PawlCollections", "Pawl", "PawlWeb", "PawlTerminal", "PawlGet", "CPawlSystem",
            ]),
        module(
            "PawlVerify", in: "Features/Integrity/Commands",
            [
                "PawlBase", "PawlJournal", "PawlSystem", "PawlIntegrity", "PawlTorrent", "PawlIntake", "Pawl",
                "PawlTerminal", "PawlGet",
            ]),
        module(
            "PawlServiceCommands", in: "Tool/Service",
            ["PawlBase", "PawlSystem", "Pawl", "PawlServer", "PawlTerminal", "PawlGet"]),
        module(
            "PawlAria2c", in: "Features/Aria2/Command",
            [
                "PawlBase", "PawlJournal", "PawlSystem", "PawlIntegrity", "PawlCollections", "PawlIntake", "Pawl",
                "PawlWeb", "PawlServer", "PawlAria2", "PawlTerminal", "PawlGet", "PawlServiceCommands",
            ]),
        module(
            "PawlCommands", in: "Tool/Commands",
            [
                "PawlBase", "PawlJournal", "PawlSystem", "PawlIntake", "Pawl", "PawlAria2", "PawlTerminal", "PawlGet",
                "PawlCollectionsCommand", "PawlPipe", "PawlVerify", "PawlServiceCommands", "PawlAria2c",
            ]),
        .executableTarget(
            name: "PawlTool", dependencies: ["PawlCommands"], path: "Sources/Tool/Main", exclude: ["README.md"],
            swiftSettings: strict,
            linkerSettings: hardened),
        .executableTarget(
            name: "PawlSimulate", dependencies: ["PawlTestKit"], path: "Sources/Testing/Simulate",
            exclude: ["README.md"], swiftSettings: strict
        ),
        .executableTarget(name: "QueueBench", dependencies: ["Pawl"], path: "Benchmarks/Queue", swiftSettings: strict),
        tests("PawlBaseTests", in: "Kernel/Base", ["PawlCore", "PawlJournal", "PawlPipe"]),
        tests("PawlJournalTests", in: "Kernel/Journal", ["PawlJournal"]),
        tests("PawlCoreTests", in: "Kernel/Core", ["PawlCore", "PawlJournal"]),
        tests(
            "PawlEngineTests", in: "Kernel/Engine",
            ["Pawl", "PawlCore", "PawlDisk", "PawlEngine", "PawlIntegrity", "PawlJournal", "PawlQueue"]),
        tests("PawlSystemTests", in: "Kernel/System", []),
        tests("PawlDiskTests", in: "Kernel/Disk", ["CPawlSystem", "PawlDisk", "PawlJournal"]),
        tests("PawlHTTPTests", in: "Kernel/HTTP", ["CHTTP2", "CTLS", "PawlHTTP"]),
        tests("PawlCurlTests", in: "Kernel/Curl", ["PawlCurl", "PawlHTTP"]),
        tests("PawlReachTests", in: "Kernel/Reach", ["PawlReach"]),
        tests("PawlQueueTests", in: "Library/Queue/Decisions", ["PawlCore", "PawlQueue"]),
        tests("PawlStoreTests", in: "Library/Queue/Store", ["PawlQueue", "PawlStore"]),
        tests("PawlResumeDataTests", in: "Library/ResumeData", ["PawlJournal", "PawlResumeData", "PawlXML"]),
        tests(
            "PawlIntakeTests", in: "Library/Intake",
            ["PawlAria2", "PawlCollections", "PawlIntake", "PawlIntegrity", "PawlPipe"]),
        // Is killed while it works: what it leaves is looked at.
        .executableTarget(
            name: "QueueProgram", dependencies: ["Pawl"], path: "Tests/Library/QueueProgram", swiftSettings: strict),
        tests(
            "PawlTests", in: "Library/Pawl",
            ["QueueProgram", "Pawl", "PawlCore", "PawlEngine", "PawlHTTP", "PawlJournal", "PawlQueue"]),
        consumerTests("ConsumerTests", in: "Library/Testing"),
        tests("PawlFoundationTests", in: "Library/Foundation", ["Pawl", "PawlFoundation", "PawlSession"]),
        .executableTarget(
            name: "SessionProgram", dependencies: ["PawlSession"], path: "Tests/Library/SessionProgram",
            swiftSettings: strict),
        tests(
            "PawlSessionTests", in: "Library/Session",
            ["SessionProgram", "Pawl", "PawlGet", "PawlJournal", "PawlSession"]),
        tests(
            "PawlS3Tests", in: "Features/S3",
            ["PawlCore", "PawlCurl", "PawlHTTP", "PawlJournal", "PawlS3", "PawlXML"]),
        tests("PawlHubTests", in: "Features/Hub", ["PawlHub"]),
        tests("PawlRegistryTests", in: "Features/Registry", ["PawlRegistry"]),
        tests("PawlTorrentTests", in: "Features/Torrent", ["PawlCollections", "PawlDisk", "PawlHTTP", "PawlTorrent"]),
        tests("PawlStreamsTests", in: "Features/Streams", ["PawlStreams"]),
        tests(
            "PawlCollectionsTests", in: "Features/Collections",
            ["PawlCollections", "PawlDisk", "PawlJournal", "PawlXML"]),
        tests(
            "PawlIntegrityTests", in: "Features/Integrity",
            ["PawlIntegrity", "PawlJournal", "PawlXML"]),
        tests(
            "PawlPipeTests", in: "Features/Pipe",
            ["PawlCore", "PawlGet", "PawlHTTP", "PawlIntegrity", "PawlJournal", "PawlPipe", "PawlQueue", "PawlS3"]),
        tests("PawlWebTests", in: "Service/Web", ["PawlWeb"]),
        tests(
            "PawlServerTests", in: "Service/Server",
            ["Pawl", "PawlAria2", "PawlAria2c", "PawlIntake", "PawlIntegrity", "PawlServer", "PawlWeb"]),
        tests(
            "PawlPageTests", in: "Service/Page",
            ["PawlWeb", "Pawl", "PawlCore", "PawlDisk", "PawlIntegrity", "PawlServer"]),
        tests(
            "PawlAria2Tests", in: "Features/Aria2",
            ["PawlJournal", "Pawl", "PawlAria2", "PawlAria2c", "PawlIntake", "PawlServer", "PawlTerminal", "PawlWeb"]),
        tests(
            "PawlCommandsTests", in: "Tool/Commands",
            [
                "Pawl", "PawlAria2", "PawlAria2c", "PawlCommands", "PawlGet", "PawlIntake", "PawlIntegrity",
                "PawlJournal", "PawlPipe", "PawlServer", "PawlServiceCommands", "PawlTerminal", "PawlVerify",
            ]),
        tests("PawlTestKitTests", in: "Testing/Kit", ["PawlJournal"]),
        tests("ExamplesTests", in: "Examples", ["Pawl"] + examples.map { .target(name: "Example\($0)") }),
        tests(
            "PawlFuzzTests", in: "Fuzz",
            [
                "Pawl", "PawlAria2", "PawlCollections", "PawlCommands", "PawlCore", "PawlGet", "PawlHTTP", "PawlHub",
                "PawlIntake", "PawlIntegrity", "PawlJournal", "PawlPipe", "PawlQueue", "PawlReach", "PawlRegistry",
                "PawlResumeData", "PawlS3", "PawlStreams", "PawlTerminal",
                "PawlTorrent", "PawlWeb",
            ], apart: ["Corpus"]),
        tests(
            "PawlEndToEndTests", in: "EndToEnd",
            [
                "SessionProgram", "Pawl", "PawlCore", "PawlHTTP", "PawlIntegrity", "PawlJournal", "PawlPipe", "PawlS3",
                "PawlServer",
            ]),
    ] + examples.map(example))

if isDependency {
    // What the service, the tool and the tests add would need their C libraries, or warn that they are missing.
    let libraries = package.targets.prefix { $0.name != "PawlTestKit" }.filter {
        !["CPage", "CFaultyFiles"].contains($0.name)
    }
    package.targets = libraries
    package.products.removeAll { $0.name == "pawl" }
}
