import Carom
import CaromDNS
import CaromTesting

@testable import CaromProtocol

/// A peer in matchmaking mode on the virtual network, with the real discovery and lobby machines.
struct SwarmNode: VirtualNode {
  static let type: ServiceType = "_airhockey._tcp"

  let host: VirtualHost
  private(set) var lobby: Lobby
  private var dns: MulticastDNS
  private var socket: VirtualSocket?
  private var port: UInt16 = 0
  private var publication: PublicationID?
  private var streams: [(connection: ConnectionID, stream: VirtualStream)] = []
  private var opening: [(connection: ConnectionID, stream: VirtualStream)] = []
  private var pairs: [(id: PeerID, name: Name)] = []
  private var resolving: [(id: ResolveID, connection: ConnectionID)] = []
  private var resolved: [(connection: ConnectionID, endpoints: [Endpoint])] = []
  private let startAt: Instant
  private var isStarted = false
  /// The number of open connections that have ended.
  private(set) var losses = 0

  init(on host: VirtualHost, id: PeerID, startAt: Instant, generator: inout SeededGenerator) {
    self.host = host
    self.startAt = startAt
    let info = PeerInfo(id: id, name: "\(id)", application: "airhockey")
    lobby = Lobby(
      matching: Host(info, seats: 1), generator: generator.split(), at: startAt)
    dns = MulticastDNS(hostLabel: "host-\(host.id.number)", generator: generator.split())
  }

  var partner: PeerID? { lobby.matchmaker?.partner }

  var nextTimeout: Instant? {
    isStarted ? earliest(dns.nextTimeout, lobby.nextTimeout) : startAt
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    guard isStarted else { return begin(in: &network) }
    dns.handleTimeout(at: network.now)
    lobby.handleTimeout(at: network.now)
    drain(in: &network)
  }

  private mutating func begin(in network: inout VirtualNetwork) {
    isStarted = true
    let socket = network.bind(host, port: 5353)
    network.join(MulticastGroup.v4.address, on: socket)
    self.socket = socket
    port = network.listen(host) ?? 0
    let connection = Link(
      index: host.interfaces[0].index, addresses: [.init(host.v4, prefixLength: 8)])
    dns.setLinks([connection], at: network.now)
    _ = dns.browse(.services(Self.type), at: network.now)
    drain(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .datagram(let datagram, _): dns.handle(datagram, at: now)
    case .accepted(let stream, _, _):
      let connection = lobby.makeConnectionID()
      if lobby.host.accept(connection, at: now) {
        streams.append((connection, stream))
      } else {
        network.reset(stream)
      }
    case .connected(let stream):
      guard let index = opening.firstIndex(where: { $0.stream == stream }) else { break }
      let entry = opening.remove(at: index)
      if lobby.handleStreamConnected(entry.connection, at: now) {
        streams.append(entry)
      } else {
        network.close(stream)
      }
    case .refused(let stream), .timedOut(let stream):
      if let entry = opening.first(where: { $0.stream == stream }) {
        opening.removeAll { $0.stream == stream }
        lobby.handleStreamFailed(entry.connection, at: now)
      }
      end(stream, .timedOut, at: now)
    case .bytes(let bytes, let stream):
      guard let connection = streams.first(where: { $0.stream == stream })?.connection else {
        break
      }
      lobby.receive(bytes.span, on: connection, at: now)
    case .end(let stream):
      end(stream, .ended, at: now)
      network.close(stream)
    case .reset(let stream): end(stream, .reset, at: now)
    case .drained: break
    }
    drain(in: &network)
  }

  private mutating func end(_ stream: VirtualStream, _ end: LinkEnd, at now: Instant) {
    guard let index = streams.firstIndex(where: { $0.stream == stream }) else { return }
    lobby.handleLinkEnd(end, of: streams.remove(at: index).connection, at: now)
  }

  private mutating func drain(in network: inout VirtualNetwork) {
    var isDry = false
    while !isDry {
      isDry = true
      while let event = dns.pollEvent() {
        isDry = false
        handle(event, at: network.now)
      }
      while let event = lobby.pollEvent() {
        isDry = false
        handle(event, in: &network)
      }
      for entry in resolved {
        guard let endpoint = entry.endpoints.first(where: { !$0.address.isV6 }) else { continue }
        opening.append((entry.connection, network.connect(from: host, to: endpoint)))
      }
      resolved = []
      for (connection, stream) in streams { flush(connection, stream, in: &network) }
    }
    guard let socket else { return }
    while let packet = dns.pollTransmit() {
      network.send(
        packet.payload, from: socket, to: packet.destination, interface: packet.interface,
        hopLimit: 255)
    }
  }

  private mutating func flush(
    _ connection: ConnectionID, _ stream: VirtualStream, in network: inout VirtualNetwork
  ) {
    let now = network.now
    var bytes: [UInt8] = []
    while lobby.host.pollTransmit(
      on: connection, queued: 0, at: now, { bytes = Array(copying: $0) })
    {
      network.write(bytes, to: stream)
    }
    guard let action = lobby.host.pollLinkAction(on: connection) else { return }
    streams.removeAll { $0.connection == connection }
    if action == .cut { network.reset(stream) } else { network.close(stream) }
  }

  private mutating func handle(_ event: MulticastDNS.Event, at now: Instant) {
    switch event {
    case .querier(.added(_, let service)), .querier(.updated(_, let service)):
      guard let sighting = service.text.flatMap({ Sighting($0) }) else { return }
      pairs.removeAll { $0.name == service.name }
      pairs.append((sighting.id, service.name))
      lobby.handle(sighting, at: now)
    case .querier(.removed(_, let service)):
      guard let gone = pairs.first(where: { $0.name == service.name }) else { return }
      pairs.removeAll { $0.name == service.name }
      lobby.handleRemoved(gone.id, at: now)
    case .querier(.resolved(let id, let resolution)):
      guard let entry = resolving.first(where: { $0.id == id }) else { return }
      resolving.removeAll { $0.id == id }
      resolved.append((entry.connection, resolution.endpoints))
    case .querier(.unresolved(let id, _)):
      guard let entry = resolving.first(where: { $0.id == id }) else { return }
      resolving.removeAll { $0.id == id }
      lobby.handleStreamFailed(entry.connection, at: now)
    case .querier, .responder: break
    }
  }

  private mutating func handle(_ event: LobbyEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .advertise(let status, let freeSeats):
      let sighting = Sighting(id: lobby.host.local.id, status: status, freeSeats: freeSeats)
      if let publication {
        try? dns.update(publication, text: sighting.text, at: now)
      } else {
        let service = Registration(
          instance: lobby.host.local.name, type: Self.type, port: port, text: sighting.text)
        publication = try? dns.publish(service, at: now)
      }
    case .connect(let peer, let connection):
      guard let name = pairs.first(where: { $0.id == peer })?.name else {
        return lobby.handleStreamFailed(connection, at: now)
      }
      resolving.append((dns.resolve(name, deadline: now + .seconds(3), at: now), connection))
    case .cancelConnect(let connection):
      resolving.removeAll { $0.connection == connection }
      for entry in opening where entry.connection == connection { network.reset(entry.stream) }
      opening.removeAll { $0.connection == connection }
    case .host(.closed(_, _, _, let wasOpen)): if wasOpen { losses += 1 }
    case .host: break
    }
  }
}
