import Pawl

/// Runs the command line and gives the exit code.
package func run(arguments: [String]) -> Int32 { 0 }
