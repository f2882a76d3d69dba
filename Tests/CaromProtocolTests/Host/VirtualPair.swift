import CaromCore
import CaromTesting

@testable import CaromProtocol

/// A host and a caller on a virtual network.
struct VirtualPair {
  var world: VirtualWorld<VirtualPeer>
  let host: VirtualHost
  let caller: VirtualHost
  static let stepLimit = 20_000_000

  init(
    seed: UInt64, profile: LinkProfile = LinkProfile("steady", .steady),
    links: VirtualPeer.Links = .datagram, hostLinks: VirtualPeer.Links? = nil,
    load: Load = Load(), hostLoad: Load? = nil, timing: SessionTiming = SessionTiming()
  ) {
    world = VirtualWorld(seed: seed)
    let host = world.network.addHost(on: [0])
    let caller = world.network.addHost(on: [0])
    world.network.setProfile(profile, from: caller, to: host)
    world.start(
      VirtualPeer(
        on: host, links: hostLinks ?? links, load: hostLoad ?? load, timing: timing, seed: seed),
      on: host)
    world.start(
      VirtualPeer(
        on: caller, calling: host, links: links, load: load, timing: timing, seed: seed),
      on: caller)
    self.host = host
    self.caller = caller
  }

  var hostPeer: VirtualPeer { world[host]! }
  var callerPeer: VirtualPeer { world[caller]! }

  mutating func setConditions(_ conditions: LinkConditions) {
    world.network.setProfile(LinkProfile("both ways", conditions), from: caller, to: host)
  }

  /// Runs until everything that was sent has come, or the time is up; whether it has.
  mutating func runLoad(for duration: Duration) throws -> Bool {
    let (host, caller) = (host, caller)
    return try world.run(for: duration, stepLimit: Self.stepLimit) { world in
      Self.isDone(world[host], world[caller]) && Self.isDone(world[caller], world[host])
    }
  }

  private static func isDone(_ sender: VirtualPeer?, _ receiver: VirtualPeer?) -> Bool {
    guard let sender, let receiver, sender.openedAt != nil, sender.sender.isDone else {
      return false
    }
    return receiver.checker.events == sender.sender.events
      && receiver.checker.bulkBytes == sender.sender.bulkBytes
  }

  var faults: [String] { hostPeer.checker.faults + callerPeer.checker.faults }
}
