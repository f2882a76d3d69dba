import Carom

/// A mesh on loopback, with all peers in this process and on one loop.
enum NearbyLoopback {
  /// The most peers of a mesh. Each multicast message on one computer reaches all of them, so that
  /// the work grows with the square of their number.
  static let limit = 64

  /// Returns the time from the first start until everyone was connected with everyone.
  static func measure(_ count: Int) async throws -> Duration {
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
            try await side.transceive { nearby in
              await nearby.waitForPeers(count - 1)
              await sides.meet()
              await sides.meet()
            }
          }
        }
        await sides.meet()
        let time = loop.now - start
        await sides.meet()
        try await tasks.waitForAll()
        return time
      }
    }
  }
}
