import ArgumentParser
import BenchProbe
import Carom
import Foundation

/// Runs one of the two processes of `NearbyPair`: the peer that is measured, or all the others.
struct NearbyPeerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby-peer", abstract: "Runs one process of 'bench nearby'.",
    shouldDisplay: false)

  private static let type = "_bench._udp"
  /// The time after which what only the beginning needs has ended.
  private static let settlingTime = Duration.seconds(5)

  @Argument(help: "measured SECONDS or others PEER PORT")
  var role: String
  @Argument var first: String
  @Argument var port: UInt16 = 0

  @Option(help: "The number of other peers.")
  var others: Int

  func run() async throws {
    // Each connection has a TCP socket.
    _ = bench_raise_descriptor_limit()
    if role == "measured", let seconds = Int(first) { return try await measure(seconds) }
    guard role == "others", let measured = PeerID(first) else { throw ExitCode.failure }
    try await join(measured)
  }

  /// Waits for the other peers, and prints what being connected with them costs.
  private func measure(_ seconds: Int) async throws {
    try await withNetworkLoop { loop in
      try await Nearby("measured", type: ServiceType(Self.type), on: loop).run(.joinsEveryone) {
        Self.report("listening \($0.local.id) \($0.port)")
        // What the first connection of a process takes is no cost of a connection.
        await $0.waitForPeers(1)
        try await loop.sleep(until: loop.now + Self.settlingTime)
        let first = Self.anonymousBytes
        Self.report("first")
        await $0.waitForPeers(others - 1)
        try await loop.sleep(until: loop.now + Self.settlingTime)
        let used = bench_process_cpu_nanoseconds()
        try await loop.sleep(until: loop.now + .seconds(seconds))
        let processor = Double(bench_process_cpu_nanoseconds() - used) / 1e9
        let memory = Double(Self.anonymousBytes - first)
        Self.report("figures \(processor / Double(seconds)) \(memory / Double(others - 1))")
      }
    }
  }

  /// Connects the other peers with the one that is measured, but not with each other, until
  /// standard input ends. All but the first wait for a line of it.
  private func join(_ measured: PeerID) async throws {
    await withNetworkLoop { loop in
      await withThrowingTaskGroup { tasks in
        for number in 0..<others {
          if number == 1 { await Self.nextLine() }
          tasks.addTask {
            let side = Nearby("\(number)", type: try ServiceType(Self.type), on: loop)
            try await side.run(.joinsEveryone) { nearby in
              let peer = NearbyPeer(id: measured, name: "measured")
              await nearby.add(peer, at: [Endpoint(.loopback4, port: port)])
              // Only cancellation ends the wait, because there is only one peer.
              await nearby.waitForPeers(2)
            }
          }
        }
        await Self.nextLine()
        tasks.cancelAll()
      }
    }
  }

  private static func report(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }

  /// Waits, on a thread of its own, until standard input has another line or has ended.
  private static func nextLine() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        _ = readLine()
        continuation.resume()
      }
    }
  }

  /// The memory of this process that lies in main memory and not in files, in bytes. The figures
  /// in /proc/self/status are not exact.
  private static var anonymousBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
