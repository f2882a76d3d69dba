import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares Carom with its peers: ratios within one run, and exact counts.",
    subcommands: [
      CodecCommand.self, DiscoveryCommand.self, DiscoveryPeerCommand.self, EchoCommand.self,
      FramesCommand.self, RollbackCommand.self, SessionCommand.self, SessionPeerCommand.self,
      SnapshotCommand.self, StepCommand.self, WorldCommand.self,
    ])
}
