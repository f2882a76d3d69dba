import CaromCore
import CaromCrypto
import CaromTesting

@testable import CaromProtocol

/// A host and a client on a virtual network. If `knowsHost` is true, the client knows the host's
/// key beforehand; otherwise `hostKey` is the key that it believes the host to have.
struct VirtualPair {
  var world: VirtualWorld<VirtualPeer>
  let host: VirtualHost
  let client: VirtualHost
  static let stepLimit = 20_000_000

  init(
    seed: UInt64, profile: LinkProfile = LinkProfile("steady", .steady),
    links: VirtualPeer.Links = .datagram, hostLinks: VirtualPeer.Links? = nil,
    load: Load = Load(), hostLoad: Load? = nil, timing: SessionTiming = SessionTiming(),
    access: (host: LinkAccess, client: LinkAccess) = (.anyone, .anyone),
    keyLimits: KeyLimits = KeyLimits(), knowsHost: Bool = false, hostKey: PublicKey? = nil,
    recordsArrivals: Bool = false
  ) {
    world = VirtualWorld(seed: seed)
    let host = world.network.addHost(on: [0])
    let client = world.network.addHost(on: [0])
    world.network.setProfile(profile, from: client, to: host)
    let hostPeer = VirtualPeer(
      on: host, links: hostLinks ?? links, load: hostLoad ?? load, timing: timing,
      access: access.host, keyLimits: keyLimits, recordsArrivals: recordsArrivals, seed: seed)
    world.start(hostPeer, on: host)
    world.start(
      VirtualPeer(
        on: client, connectingTo: host, links: links, load: load, timing: timing,
        access: access.client, keyLimits: keyLimits,
        hostKey: knowsHost ? hostPeer.publicKey : hostKey, recordsArrivals: recordsArrivals,
        seed: seed),
      on: client)
    self.host = host
    self.client = client
  }

  var hostPeer: VirtualPeer { world[host]! }
  var clientPeer: VirtualPeer { world[client]! }

  mutating func setConditions(_ conditions: LinkConditions) {
    world.network.setProfile(LinkProfile("both ways", conditions), from: client, to: host)
  }

  /// Runs until everything that was sent has arrived; returns false if that took longer than
  /// `duration`.
  mutating func runLoad(for duration: Duration) throws -> Bool {
    let (host, client) = (host, client)
    return try world.run(for: duration, stepLimit: Self.stepLimit) { world in
      Self.isDone(world[host], world[client]) && Self.isDone(world[client], world[host])
    }
  }

  private static func isDone(_ sender: VirtualPeer?, _ receiver: VirtualPeer?) -> Bool {
    guard let sender, let receiver, sender.openedAt != nil, sender.sender.isDone else {
      return false
    }
    return receiver.checker.events == sender.sender.events
      && receiver.checker.bulkBytes == sender.sender.bulkBytes
  }

  var faults: [String] { hostPeer.checker.faults + clientPeer.checker.faults }
}
