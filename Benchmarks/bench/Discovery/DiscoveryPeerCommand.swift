import ArgumentParser
import CaromTransport
import Foundation

/// Runs Carom's discovery on a host of the lab. Executes the commands on its standard input and
/// prints every event on a line that starts with the time in milliseconds.
///
/// The words of a command are separated by tabs:
///
///     publish NAME TYPE PORT      many NAME TYPE COUNT      unique NAME TYPE
///     text VALUE                  withdraw
///     browse TYPE                 watch TYPE                forget
///     reconfirm NAME
///     flood COUNT [TYPE]          usage                     crash
struct DiscoveryPeerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discovery-peer", abstract: "Runs one side of 'bench discovery'.",
    shouldDisplay: false)

  func run() async throws {
    let loop = try NetworkLoop(name: "peer")
    let peer = DiscoveryPeer(on: loop)
    await peer.report("ready")
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    for await line in lines {
      do {
        try await peer.execute(line.split(separator: "\t").map(String.init))
      } catch {
        await peer.report("error \(error)")
      }
    }
    await peer.close()
    await loop.shutdown()
  }
}
