import ArgumentParser
import CaromTransport
import Foundation

/// Our own side in a host of the lab: does what its input says and tells what happens, each line
/// with the time in milliseconds.
///
/// Words stand between tabs:
///
///     publish NAME TYPE PORT      many NAME TYPE COUNT      unique NAME TYPE
///     withdraw
///     browse TYPE                 watch TYPE                forget
///     reconfirm NAME
///     flood COUNT [TYPE]          usage                     crash
struct DiscoveryPeerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discovery-peer", abstract: "A side of 'bench discovery'.", shouldDisplay: false)

  func run() async throws {
    let loop = try NetworkLoop(name: "peer")
    let peer = DiscoveryPeer(on: loop)
    await peer.tell("ready")
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    for await line in lines {
      do {
        try await peer.obey(line.split(separator: "\t").map(String.init))
      } catch {
        await peer.tell("error \(error)")
      }
    }
    await peer.forget()
    await loop.shutdown()
  }
}
