import Carom
import CaromSessionTesting

/// A mesh on the virtual network, whose figures are the same on every machine.
struct NearbyMesh: Sendable {
  /// The time for which the idle mesh is measured.
  private static let idleTime = Duration.seconds(60)

  let count: Int
  /// The time from the first start until everyone was connected with everyone.
  var time = Duration.zero
  /// The bytes of one idle connection a second, both directions together.
  var idleBytes = 0.0
  /// The same for the connections to the leader, while all peers are members of a group.
  var groupBytes = 0.0

  /// The figures that have a threshold.
  var counts: [(name: String, count: Double)] {
    [
      ("milliseconds until \(count) peers are connected", time.inSeconds * 1000),
      ("bytes a second of an idle link of \(count) peers", idleBytes),
      ("bytes a second of a link to the leader of \(count) peers", groupBytes),
    ]
  }

  /// The state of a group that does nothing.
  private struct Nothing: ReplicatedState {
    mutating func apply(_ event: Int, _ entry: LedgerEntry) {}
  }

  static func measure(_ count: Int) async throws -> NearbyMesh {
    try await SessionWorld.run(seed: 1) { world in
      let hosts = (0..<count).map { _ in world.addHost() }
      let sides = NearbySides(count)
      return try await withThrowingTaskGroup { tasks in
        for (number, host) in hosts.enumerated() {
          let start = Duration.milliseconds(Int64(world.random() % 1_000))
          tasks.addTask {
            try await world.sleep(for: start)
            let side = Nearby("\(number)", type: "_bench._udp", on: host.loop)
            try await side.run(.joinsEveryone) { nearby in
              await sides.add(nearby, at: Endpoint(host.v4, port: nearby.port))
              await nearby.waitForPeers(count - 1)
              await sides.meet()
              // Without a group, and then with one.
              await sides.meet()
              try await nearby.session.withGroup(Nothing()) { group in
                // Each side leads a group of its own at first.
                try await world.sleep(for: .seconds(10))
                await sides.meet(leader: group.leader == nearby.local.id ? number : nil)
                await sides.meet()
              }
            }
          }
        }
        var mesh = NearbyMesh(count: count)
        await sides.meet()
        mesh.time = Instant.zero.duration(to: world.now)
        try await world.sleep(for: .seconds(10))
        mesh.idleBytes = try await measureLinks(of: Array(hosts.indices), hosts, in: world)
        await sides.meet()
        await sides.meet()
        let leader = await sides.leader
        mesh.groupBytes = try await measureLinks(of: leader.map { [$0] } ?? [], hosts, in: world)
        await sides.meet()
        try await tasks.waitForAll()
        return mesh
      }
    }
  }

  /// Returns the mean bytes a second of the connections of some hosts to all others.
  private static func measureLinks(
    of numbers: [Int], _ hosts: [SessionWorld.Host], in world: SessionWorld
  ) async throws -> Double {
    func total() -> Int {
      world.withNetwork { network in
        numbers.reduce(0) { sum, number in
          hosts.indices.reduce(sum) { sum, other in
            guard other != number else { return sum }
            let (a, b) = (hosts[number].host, hosts[other].host)
            let (out, back) = (network.counters(from: a, to: b), network.counters(from: b, to: a))
            return sum + out.bytesSent + out.streamBytesSent + back.bytesSent + back.streamBytesSent
          }
        }
      }
    }
    let before = total()
    try await world.sleep(for: idleTime)
    let links = Double(numbers.count * (hosts.count - 1))
    return Double(total() - before) / links / idleTime.inSeconds
  }
}

/// The sides of a mesh: each learns of all others, and they wait for each other and for the
/// measurement.
actor NearbySides {
  private let count: Int
  private var all: [(peer: NearbyPeer, endpoint: Endpoint, nearby: NearbySession)] = []
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private(set) var leader: Int?

  init(_ count: Int) { self.count = count }

  func add(_ nearby: NearbySession, at endpoint: Endpoint) async {
    let peer = NearbyPeer(id: nearby.local.id, name: nearby.local.name)
    let others = all
    all.append((peer, endpoint, nearby))
    for other in others {
      await nearby.add(other.peer, at: [other.endpoint])
      await other.nearby.add(peer, at: [endpoint])
    }
  }

  /// Waits until all sides and the measurement have arrived.
  func meet(leader: Int? = nil) async {
    if let leader { self.leader = leader }
    if waiters.count == count {
      let all = waiters
      waiters = []
      for waiter in all { waiter.resume() }
    } else {
      await withCheckedContinuation { waiters.append($0) }
    }
  }
}

extension NearbySession {
  /// Waits until this many peers have joined.
  func waitForPeers(_ count: Int) async {
    var joined = 0
    for await event in session.events {
      switch event {
      case .joined: joined += 1
      case .left: joined -= 1
      default: continue
      }
      if joined == count { return }
    }
  }

  /// Waits until this many other peers are visible.
  func waitUntilVisible(_ count: Int) async {
    for await _ in changes { if await nearbyPeers.count == count { return } }
  }
}
