import ArgumentParser
import Dispatch
import Foundation

@main
enum Program {
  static func main() {
    // Valgrind fails when the main thread of a program ends, which is how Dispatch takes over from
    // an asynchronous `main`.
    if SessionInstructions.isWanted { return SessionInstructions.play() }
    Task {
      await Bench.main()
      exit(0)
    }
    dispatchMain()
  }
}

struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares Carom with its peers: ratios within one run, and exact counts.",
    subcommands: [
      BrowserCommand.self, CodecCommand.self, DiscoveryCommand.self, DiscoveryPeerCommand.self,
      EchoCommand.self, FilesCommand.self, FleetCommand.self, FramesCommand.self,
      NearbyCommand.self, NearbyPeerCommand.self, RollbackCommand.self, SessionCommand.self,
      SessionPeerCommand.self,
      SnapshotCommand.self, StepCommand.self, WorldCommand.self,
    ])
}
