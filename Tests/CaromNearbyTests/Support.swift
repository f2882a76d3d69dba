import CaromCore
import CaromDiscovery
import CaromNearby
import CaromSession
import CaromTransport

extension MessageChannel<String> {
  static var lines: Self { .init(0, .reliableOrdered) }
}

/// A service type that no other test uses.
func makeServiceType() throws -> ServiceType {
  let number = UInt32.random(in: 0..<(1 << 31))
  return try ServiceType(name: "carom-\(String(number, radix: 36))", transport: .udp)
}

/// A side on the loopback interface.
func makeNearby(_ name: String, _ type: ServiceType, on loop: NetworkLoop) -> Nearby {
  var nearby = Nearby(name, type: type, on: loop)
  nearby.interfaces = .named(["lo"])
  return nearby
}

extension NearbySession {
  /// Waits until this many peers have joined, and returns them.
  func joined(_ count: Int = 1) async -> [Peer] {
    var peers: [Peer] = []
    for await event in session.events {
      switch event {
      case .joined(let peer): peers.append(peer)
      case .left(let peer, _): peers.removeAll { $0 == peer }
      default: break
      }
      if peers.count == count { break }
    }
    return peers
  }
}

/// A meeting point: those that arrive continue when all have arrived. It can be used again then.
actor MeetingPoint {
  private let count: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { self.count = count }

  func arrive() async {
    guard waiters.count + 1 < count else {
      let all = waiters
      waiters = []
      for waiter in all { waiter.resume() }
      return
    }
    await withCheckedContinuation { waiters.append($0) }
  }
}
