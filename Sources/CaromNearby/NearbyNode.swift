import CaromCore
import CaromDNS
import CaromDiscovery
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Drives the machine of one group over the connections of a session node and over discovery.
actor NearbyNode: LoopActor {
  /// The maximum number of services that are remembered.
  static let serviceLimit = 4096
  /// The time limit for resolving a peer's address.
  static let resolveLimit = Duration.seconds(3)
  /// The time limit for opening a connection.
  static let connectLimit = Duration.seconds(5)

  /// The state of a call of `invite`.
  enum Call {
    /// The call has not suspended yet.
    case running
    case waiting(CheckedContinuation<InvitationResult, Never>)
    /// The invitation has ended before the call suspended.
    case ended(InvitationResult)
  }

  nonisolated let loop: NetworkLoop
  nonisolated let node: SessionNode
  nonisolated let changes = Inbox<DiscoveryChange<NearbyPeer>>(
    limit: NearbyChanges.limit, overflow: .dropOldest)
  nonisolated let invitations = Inbox<NearbyInvitation>(
    limit: Invitations.openLimit, overflow: .dropOldest)

  let settings: Nearby
  private let role: Nearby.Role
  /// The advertisement, without the port.
  private var service: AdvertisedService?
  var group: PeerGroup
  var session: Session?
  /// The port on which the session listens.
  var port: UInt16 = 0
  var discovery: DiscoveryCore?
  /// The peers that are advertised, by their service.
  var services: [DiscoveredService.ID: (peer: NearbyPeer, service: DiscoveredService)] = [:]
  /// The types that are browsed for, by the watch.
  var browsedTypes: [DiscoveryCore.WatchingID: ServiceType] = [:]
  /// The peers that the application has added.
  var added: [PeerID: (peer: NearbyPeer, endpoints: [Endpoint])] = [:]
  /// The attempts to connect that are under way.
  var dials: [PeerID: Task<Void, Never>] = [:]
  /// The number of attempts so far, which chooses among several services of one peer.
  var attempts: [PeerID: Int] = [:]
  /// The attempts that wait for the address of a peer, by a number of their own.
  var resolving: [Int: CheckedContinuation<Result<ResolvedService, DiscoveryError>, Never>] = [:]
  var lastResolving = 0
  /// The connections of the peers that have joined.
  var joined: [PeerID: ConnectionID] = [:]
  /// The calls that wait for the end of an invitation, by its number.
  var calls: [UInt32: Call] = [:]
  private var timer: LoopTimer?
  private var isDraining = false
  private(set) var isEnding = false

  /// This side's description of itself.
  nonisolated var local: PeerInfo { node.local }

  init(_ settings: Nearby, _ role: Nearby.Role, on loop: NetworkLoop) {
    self.settings = settings
    self.role = role
    self.loop = loop
    var generator = LoopGenerator(of: loop)
    let info = PeerInfo(
      id: .random(using: &generator), name: settings.name, application: settings.type.name,
      applicationVersion: settings.applicationVersion)
    node = SessionNode(
      info, seats: settings.limit, timing: settings.timing, over: settings.kinds,
      security: settings.security, on: loop)
    var options = Mesh.Options()
    options.joinsEveryone = role.contains(.joinsEveryone)
    options.limit = settings.limit
    group = PeerGroup(
      as: node.local.id, options, generator: SeededGenerator(seed: generator.next()))
  }

  /// Checks the settings, and returns the gate of the session.
  func prepare() throws -> PeerGate {
    let record = NearbyRecord(id: local.id, name: settings.name, info: settings.info)
    let service = AdvertisedService(
      name: record.serviceName, type: settings.type, port: 1, txt: try record.text,
      isNameUnique: true)
    try service.validate()
    self.service = service
    timer = LoopTimer(on: loop, owner: self) { $0.handleTimeout() }
    let mesh = GroupChannel.mesh.rawValue
    return PeerGate(owner: self, channels: mesh...mesh) { nearby, event in
      nearby.handle(event)
    } message: { nearby, message in
      nearby.receive(message)
    }
  }

  /// Starts listening, advertising and browsing. Returns the port.
  func open(_ session: Session) async throws -> UInt16 {
    self.session = session
    let isOnNetwork = !role.isDisjoint(with: [.advertises, .browses])
    if isOnNetwork { _ = try openDiscovery() }
    let interfaces =
      try discovery?.activeInterfaces ?? settings.interfaces.selected(from: Interfaces.list())
    let isLocal = !interfaces.isEmpty && interfaces.allSatisfy(\.isLoopback)
    let addresses: [IPAddress] = isLocal ? [.loopback4] : [.any4, .any6]
    let port = try await node.listen(on: addresses, port: settings.port)
    self.port = port
    if role.contains(.advertises), var service {
      service.port = port
      try discovery?.advertise(service) { _ in }
    }
    if role.contains(.browses) { _ = try browse(settings.type) { _ in } }
    return port
  }

  /// Returns the discovery core, which opens its sockets on first use.
  func openDiscovery() throws(DiscoveryError) -> DiscoveryCore {
    guard !isEnding else { throw .closed }
    if let discovery { return discovery }
    let discovery = try DiscoveryCore(on: loop, interfaces: settings.interfaces)
    self.discovery = discovery
    return discovery
  }

  /// Withdraws the advertisement, and ends what waits for something.
  func end() {
    guard !isEnding else { return }
    isEnding = true
    discovery?.close()
    discovery = nil
    timer?.cancel()
    for dial in dials.values { dial.cancel() }
    dials = [:]
    for number in resolving.keys.sorted() { endResolving(number, .failure(.closed)) }
    for number in calls.keys.sorted() { endCall(number, .cancelled) }
    changes.finish()
    invitations.finish()
    session = nil
  }

  private func handleTimeout() {
    group.handleTimeout(at: loop.now)
    drain()
  }

  // MARK: Outputs

  /// Carries out what the machine asks for. Called after each call of the machine; a call from
  /// within it leaves the outputs to the one that is running.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    while let output = group.pollOutput() { if !isEnding { carryOut(output) } }
    isDraining = false
    guard !isEnding else { return }
    if let due = group.nextTimeout { timer?.arm(at: due) } else { timer?.cancel() }
  }

  private func carryOut(_ output: PeerGroup.Output) {
    switch output {
    case .dial(let peer): dial(peer)
    case .cancelDial(let peer): dials.removeValue(forKey: peer)?.cancel()
    case .admit(let connection): node.assumeIsolated { $0.admit(connection) }
    case .close(let connection, let goodbye, let reason):
      node.assumeIsolated { $0.close(connection, goodbye, as: reason) }
    case .send(let message, let connection): send(message, on: connection)
    case .joined(let peer, let connection):
      joined[peer] = connection
      session?.join(connection)
    case .left(let peer, let reason):
      if let connection = joined.removeValue(forKey: peer) { session?.leave(connection, reason) }
    case .invited(let peer, let number, let context): invited(by: peer, number, context)
    case .withdrawn: break
    case .ended(_, let number, let result): endCall(number, result)
    }
  }

  private func endCall(_ number: UInt32, _ result: InvitationResult) {
    switch calls[number] {
    case .waiting(let continuation):
      calls[number] = nil
      continuation.resume(returning: result)
    case .running: calls[number] = .ended(result)
    case .ended, nil: break
    }
  }

  private func send(_ message: MeshMessage, on connection: ConnectionID) {
    let channel = MessageChannel<MeshMessage>(
      GroupChannel.mesh.rawValue, .reliableOrdered, priority: GroupChannel.mesh.priority)
    node.assumeIsolated { node in
      do throws(SendError) {
        try node.send(message, on: channel, to: connection)
      } catch {
        // A peer that does not read the few messages of the mesh cannot be a part of the group.
        if case .notConnected = error { return }
        node.close(connection, Goodbye(.tooSlow), as: .tooSlow)
      }
    }
  }

  private func invited(by peer: PeerID, _ number: UInt32, _ context: [UInt8]) {
    let known = visiblePeer(peer)
    let connection = group.linkedConnection(to: peer)
    let name = connection.flatMap { id in node.assumeIsolated { $0.peer(of: id)?.name } }
    let inviter = NearbyPeer(id: peer, name: name ?? known?.name ?? "", info: known?.info ?? [:])
    _ = invitations.push(
      NearbyInvitation(peer: inviter, context: context, number: number, node: self))
  }
}
