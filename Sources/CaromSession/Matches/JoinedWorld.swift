import CaromCore
import CaromProtocol
import CaromSimulation

/// A client's view of a world that a session's host replicates.
///
/// ```swift
/// let view = JoinedWorld(host, schema: Tank.schema, over: session)
/// for await tick in view.updates { show(view.entities) }
/// ```
///
/// A frame loop calls `update()` once per frame instead, on any thread. A joined world is not
/// `Sendable`: only one task or thread may use it.
public final class JoinedWorld {
  /// The session over which the world is replicated.
  public let session: Session
  /// The host of the world.
  public let host: Peer
  /// The channels of the world.
  public let channels: WorldChannels
  /// The snapshots received so far.
  public private(set) var receiver: SnapshotReceiver
  /// The reason why the connection to the host has ended, or nil while it has not.
  public private(set) var endReason: DisconnectReason?

  private let watch: PeerWatch
  private let inbox: Inbox<Received<EncodedMessage>>

  /// Creates a view that waits for its first snapshot. `schema` must equal the host's schema.
  public init(
    _ host: Peer, schema: EntitySchema, over session: Session,
    channels: WorldChannels = WorldChannels()
  ) {
    self.host = host
    self.session = session
    self.channels = channels
    receiver = SnapshotReceiver(schema: schema)
    let inbox = session.inboxes.inbox(for: channels.snapshots)
    self.inbox = inbox
    watch = PeerWatch(session, expecting: [host]) { event in
      // An empty message, which no snapshot is, wakes the reader.
      guard case .left(host, _) = event else { return }
      _ = inbox.push(Received(peer: host, message: EncodedMessage([]), arrival: host.hub.loop.now))
    }
  }

  /// The entities of the newest snapshot.
  public var entities: EntityTable { receiver.entities }
  /// The tick of the newest snapshot, or nil before the first.
  public var tick: Tick? { receiver.tick }

  /// The ticks of the snapshots, each delivered when its snapshot has arrived, until the connection
  /// to the host ends or the task is cancelled.
  public var updates: WorldUpdates { WorldUpdates(world: self) }

  /// Processes the snapshots that have arrived, and acknowledges them. Returns whether `entities`
  /// has changed. Call this method once per frame.
  @discardableResult
  public func update() -> Bool {
    var isNewer = false
    while let received = inbox.pop() { isNewer = receive(received) || isNewer }
    takeEvents()
    return isNewer
  }

  /// Waits for the next snapshot that is newer than the last.
  func next() async -> Tick? {
    while endReason == nil {
      guard let received = await inbox.next() else {
        takeEvents()
        return nil
      }
      if receive(received) { return receiver.tick }
      takeEvents()
    }
    return nil
  }

  private func takeEvents() {
    while let event = watch.next() {
      switch event {
      case .left(host, let reason): endReason = endReason ?? reason
      case .missed: watch.begin()
      default: break
      }
    }
    if watch.hasEnded { endReason = endReason ?? .closedLocally }
  }

  /// Processes one snapshot, and returns whether it is newer than the last.
  private func receive(_ received: Received<EncodedMessage>) -> Bool {
    guard received.peer == host, !received.message.bytes.isEmpty, endReason == nil else {
      return false
    }
    var isNewer = false
    do throws(SnapshotError) {
      isNewer = try receiver.receive(received.message.bytes.span)
    } catch {
      switch error {
      case .missingBase: break  // The acknowledgement requests a full snapshot.
      case .stale: return false
      case .malformed:
        endReason = .protocolViolation
        host.reject(channels.snapshots.id)
        return false
      }
    }
    var writer = PacketWriter()
    receiver.acknowledgement.encode(into: &writer)
    _ = host.post(EncodedMessage(writer.bytes), on: channels.acknowledgements)
    return isNewer
  }
}

/// The ticks of a joined world's snapshots, for one reader at a time. A reader that falls behind
/// may skip snapshots but misses no entity, because later snapshots contain everything that has
/// changed since the last acknowledged snapshot.
public struct WorldUpdates: AsyncSequence {
  /// The tick of a snapshot.
  public typealias Element = Tick

  let world: JoinedWorld

  /// An iterator over the snapshots.
  public struct Iterator: AsyncIteratorProtocol {
    let world: JoinedWorld

    /// Waits for the next snapshot. Returns nil when the connection to the host has ended or the
    /// task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Tick? {
      await world.next()
    }

    /// Waits for the next snapshot. Returns nil when the connection to the host has ended or the
    /// task is cancelled.
    public mutating func next() async -> Tick? { await next(isolation: #isolation) }
  }

  /// Creates an iterator over the snapshots.
  public func makeAsyncIterator() -> Iterator { Iterator(world: self.world) }
}
