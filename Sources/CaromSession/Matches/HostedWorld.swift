import CaromCore
import CaromProtocol
import CaromSimulation

/// The two channels of a replicated world: snapshots to the clients, and their acknowledgements.
public struct WorldChannels: Hashable, Sendable {
  /// The channel of the snapshots.
  public let snapshots: MessageChannel<EncodedMessage>
  /// The channel of the acknowledgements.
  public let acknowledgements: MessageChannel<EncodedMessage>

  /// Creates the channels with these numbers. Both sides must choose the same numbers, and must not
  /// use them for anything else.
  public init(snapshots: UInt8 = 52, acknowledgements: UInt8 = 53) {
    precondition(
      snapshots != acknowledgements, "snapshots and acknowledgements need a channel each")
    self.snapshots = MessageChannel(snapshots, .unreliableSequenced)
    self.acknowledgements = MessageChannel(acknowledgements, .unreliableSequenced)
  }
}

/// A world that a session's host replicates to the session's peers.
///
/// A peer can join at any time, and then receives the entities that it can see. A peer that leaves
/// is removed.
///
/// ```swift
/// let hosted = HostedWorld(WorldReplicator(configuration), over: session)
/// for await _ in hosted.ticks {
///   for (id, tank) in tanks { hosted.world.set(id, tank) }
///   hosted.advance()
/// }
/// ```
///
/// A frame loop calls `update` once per frame instead, on any thread. A hosted world is not
/// `Sendable`: only one task or thread may use it.
public final class HostedWorld {
  /// Something that happened to a peer of the world.
  public enum Notice: Hashable, Sendable {
    /// The peer now receives the world. Set its focus if the world has an area of interest.
    case joined(Peer)
    /// The peer has disconnected.
    case left(Peer, DisconnectReason)
    /// The oldest notices were dropped because they were not polled in time. `notices` is their
    /// number.
    case missed(notices: Int)
  }

  /// The maximum number of notices that wait for `pollNotice()`. Beyond it, the oldest are dropped,
  /// and a notice says how many.
  static let noticeLimit = 1_024

  /// The session over which the world is replicated.
  public let session: Session
  /// The channels of the world.
  public let channels: WorldChannels
  /// The world: its entities and the clients' areas of interest.
  public var world: WorldReplicator
  /// The peers that receive the world, in the order in which they joined.
  public private(set) var peers: [Peer] = []
  /// Whether the session has ended.
  public var isOver: Bool { watch.hasEnded }

  private var clients: [Peer: WorldReplicator.ClientID] = [:]
  private let watch: PeerWatch
  var notices = EventQueue<Notice>(limit: noticeLimit)
  private var clock: StepAccumulator
  private var due = 0

  /// Creates a hosted world. Its ticks begin now, at the rate given in its configuration.
  public init(
    _ world: WorldReplicator, over session: Session, channels: WorldChannels = WorldChannels()
  ) {
    self.world = world
    self.session = session
    self.channels = channels
    clock = StepAccumulator(rate: world.configuration.ticksPerSecond, from: session.loop.now)
    watch = PeerWatch(session)
  }

  /// Returns the id of the world's client that represents a peer, or nil if the peer does not
  /// receive the world.
  public func client(of peer: Peer) -> WorldReplicator.ClientID? { clients[peer] }

  /// Sets the center of a peer's area of interest, in the unit of the position fields. Before the
  /// first call the peer receives every entity.
  public func setFocus(x: Double, y: Double, for peer: Peer) {
    guard let client = clients[peer] else { return }
    world.setFocus(x: x, y: y, for: client)
  }

  /// Removes and returns the next notice about a peer, or nil if there is none.
  public func pollNotice() -> Notice? { notices.popFirst { .missed(notices: $0) } }

  // MARK: Ticks

  /// The ticks of the world, each delivered when it is due. For each tick, set the entities and
  /// call `advance()` once.
  public var ticks: MatchTicks {
    MatchTicks(loop: session.loop) { [self] in
      if due == 0 { receive() }
      if isOver { return .end }
      return due > 0 ? .simulate(world.tick.next) : .wait(until: clock.nextStep)
    }
  }

  /// Replicates the world, tick by tick, until the session ends or the task is cancelled. `step`
  /// sets the entities of each tick.
  public func run(_ step: (HostedWorld) async throws -> Void) async throws {
    for await _ in ticks {
      try await step(self)
      advance()
    }
  }

  /// Whether a tick is due, according to the last call of `receive`.
  public var isTickDue: Bool { due > 0 }

  /// Processes the events and messages that have arrived, and replicates the ticks that are due.
  /// `step` is called before each tick, and sets the tick's entities. Call this method once per
  /// frame.
  public func update(at now: Instant? = nil, _ step: (HostedWorld) -> Void) {
    receive(at: now)
    while due > 0 {
      step(self)
      advance()
    }
  }

  /// Advances the world by one tick, with the current values of the entities, and sends each peer
  /// its snapshot.
  public func advance() {
    due = max(0, due - 1)
    world.advance(to: world.tick.next)
    for peer in peers {
      guard let client = clients[peer], world.writeSnapshot(for: client) else { continue }
      // A snapshot that is not sent is made up for by the next one, like one that is lost.
      _ = peer.post(EncodedMessage(world.snapshot(for: client)), on: channels.snapshots)
    }
  }

  /// Processes the events and messages that have arrived, and counts the ticks that are due.
  public func receive(at now: Instant? = nil) {
    while let event = watch.next() { handle(event) }
    for received in session.takeMessages(on: channels.acknowledgements) {
      acknowledge(received.message.bytes.span, from: received.peer)
    }
    due += clock.advance(to: now ?? session.loop.now).due
  }

  private func acknowledge(_ bytes: Span<UInt8>, from peer: Peer) {
    guard let client = clients[peer] else { return }
    do throws(DecodeError) {
      var reader = PacketReader(bytes)
      let sent = world.sentTick(of: client) ?? .zero
      let acknowledgement = try SnapshotAcknowledgement(decoding: &reader, sent: sent)
      try reader.finish()
      world.acknowledge(acknowledgement, from: client)
    } catch {
      peer.reject(channels.acknowledgements.id)
    }
  }

  // MARK: Peers

  private func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      guard clients[peer] == nil else { return }
      clients[peer] = world.addClient()
      peers.append(peer)
      notices.append(.joined(peer))
    case .left(let peer, let reason): remove(peer, reason)
    case .missed:
      let connected = watch.connected
      for peer in peers where !connected.contains(peer.connectionID) {
        remove(peer, .connectionLost)
      }
      watch.begin()
    case .linkChanged, .interrupted, .resumed, .inputStopped, .inputResumed, .malformed, .refused,
      .wrongCode:
      break
    }
  }

  private func remove(_ peer: Peer, _ reason: DisconnectReason) {
    guard let client = clients.removeValue(forKey: peer) else { return }
    world.removeClient(client)
    peers.removeAll { $0 == peer }
    notices.append(.left(peer, reason))
  }
}

extension WorldReplicator {
  /// Replicates the world to the peers of a session, tick by tick, until the session ends or the
  /// task is cancelled; see `HostedWorld`. `step` sets the entities of each tick.
  public func run(
    over session: Session, channels: WorldChannels = WorldChannels(),
    _ step: (HostedWorld) async throws -> Void
  ) async throws {
    try await HostedWorld(self, over: session, channels: channels).run(step)
  }
}
