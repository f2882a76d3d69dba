import Carom
import Foundation

/// A mesh on loopback, with all peers in this process and on one loop.
struct NearbyLoopback: Sendable {
  /// The time from the first start until everyone was connected with everyone.
  var time = Duration.zero
  /// The CPU time of one idle peer, as a part of a core.
  var processor = 0.0
  /// The memory of one end of a connection, in bytes.
  var memory = 0.0

  static func measure(_ count: Int, seconds: Int) async throws -> NearbyLoopback {
    // What the peers themselves and discovery take, without connections.
    let alone = try await run(count, [.advertises, .browses], seconds: 1)
    var figures = try await run(count, [.advertises, .browses, .joinsEveryone], seconds: seconds)
    figures.memory = (figures.memory - alone.memory) / Double(count * (count - 1))
    return figures
  }

  /// Runs all peers. The memory of the figures is that of this process, in bytes.
  private static func run(
    _ count: Int, _ role: Nearby.Role, seconds: Int
  ) async throws -> NearbyLoopback {
    let number = UInt32.random(in: 0..<(1 << 31))
    let type = try ServiceType(name: "bench-\(String(number, radix: 36))", transport: .udp)
    return try await withNetworkLoop { loop in
      let sides = NearbySides(count)
      let start = loop.now
      return try await withThrowingTaskGroup { tasks in
        for number in 0..<count {
          tasks.addTask {
            var side = Nearby("\(number)", type: type, on: loop)
            side.interfaces = .named(["lo"])
            try await side.run(role) { nearby in
              if role.contains(.joinsEveryone) {
                await nearby.waitForPeers(count - 1)
              } else {
                await nearby.waitUntilVisible(count - 1)
              }
              await sides.meet()
              await sides.meet()
            }
          }
        }
        var figures = NearbyLoopback()
        await sides.meet()
        figures.time = loop.now - start
        // What only the beginning needs has ended after some seconds.
        try await loop.sleep(until: loop.now + .seconds(5))
        let used = processorTime
        try await loop.sleep(until: loop.now + .seconds(seconds))
        figures.processor = (processorTime - used) / Double(count * seconds)
        figures.memory = Double(residentBytes)
        await sides.meet()
        try await tasks.waitForAll()
        return figures
      }
    }
  }

  /// The CPU time of this process, in seconds.
  private static var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

  /// The memory of this process that lies in main memory, in bytes.
  private static var residentBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
