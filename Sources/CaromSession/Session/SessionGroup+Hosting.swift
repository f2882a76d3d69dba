import CaromCore
import CaromProtocol
import CaromTransport

// How a group begins and ends.
extension SessionGroup {
  /// Listens on `port` with each of `loops`, seats peers as `admit` says, and runs `body`.
  ///
  /// As `Session.host`, and the seats are counted over all loops. `admit` is asked on the loop
  /// that the peer will live on, so that it may be asked for two peers at the same time. Throws
  /// `TransportError.portSharingUnsupported` where the system cannot share a port, and
  /// `addressInUse` where anybody else has it, also somebody who would share it.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), loops: [NetworkLoop],
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (SessionGroup, UInt16) async throws -> Result
  ) async throws -> Result {
    precondition(!loops.isEmpty, "a group has one loop at least")
    precondition(loops.count <= loopLimit, "a group has 256 loops at most")
    let share = PortShare(seats: seats, spectatorSeats: spectatorSeats)
    let nodes = loops.indices.map { member in
      SessionNode(
        local, sharing: share, member: member, timing: timing, over: kinds, on: loops[member])
    }
    let group = await SessionGroup(nodes, admit: admit)
    return try await group.run {
      let port = try await SessionNode.listen(nodes, on: addresses, port: port)
      return try await body(group, port)
    }
  }

  /// As above, with so many loops of its own, which end with it.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), loops count: Int,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (SessionGroup, UInt16) async throws -> Result
  ) async throws -> Result {
    precondition(count > 0, "a group has one loop at least")
    var loops: [NetworkLoop] = []
    do {
      for number in 0..<count { loops.append(try NetworkLoop(name: "carom-loop-\(number)")) }
      let result = try await host(
        as: local, port: port, on: addresses, over: kinds, seats: seats,
        spectatorSeats: spectatorSeats, timing: timing, loops: loops, admit: admit, body)
      for loop in loops { await loop.shutdown() }
      return result
    } catch {
      for loop in loops { await loop.shutdown() }
      throw error
    }
  }

  private init(
    _ nodes: [SessionNode], admit: @escaping @Sendable (PeerInfo) -> Admission
  ) async {
    let events = Inbox<PeerEvent>(limit: PeerEvents.limit, overflow: .dropOldest)
    let shelf = InboxRegistry()
    let hubs = nodes.map { SessionHub(node: $0, events: events, shelf: shelf, admit: admit) }
    shelf.setHubs(hubs)
    for hub in hubs { await hub.begin() }
    self.init(hubs: hubs, inbox: events, shelf: shelf)
  }

  private func run<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      await end(Goodbye(.finished))
      return result
    } catch {
      await end(Goodbye(.left))
      throw error
    }
  }

  /// A peer's last words may come to any of the loops: none closes its sockets before all are done.
  private func end(_ goodbye: Goodbye) async {
    await withTaskGroup { tasks in
      for hub in hubs { tasks.addTask { await hub.node.settle(goodbye) } }
    }
    for hub in hubs { await hub.node.closeSockets() }
    inbox.finish()
    shelf.end()
    for hub in hubs { await hub.end() }
  }
}
