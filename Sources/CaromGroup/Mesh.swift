import CaromCore
import CaromProtocol

/// Keeps one connection to each peer that this side wants to be connected with.
///
/// Every pair of peers has one decider, the one with the lower id. Both sides may open connections;
/// of those that are open, the decider selects the first whose other end has said hello, tells the
/// other side with `use`, and closes the others. A connection counts as the pair's only from then
/// on, on the decider's side when it sends `use` and on the other side when `use` arrives. The two
/// sides thus never select different connections, whatever is lost, late or doubled, and a
/// connection that works is never replaced by a second one. A new connection replaces the selected
/// one only if the other side says that it has lost that one, or that it was restarted.
///
/// The decider opens a connection at once. The other side does so after `dialBackDelay`, because
/// the decider perhaps cannot see it. A failed attempt is repeated after a delay that grows and
/// that chance varies, so that peers which lost a network together do not all return at the same
/// moment.
package struct Mesh: Sendable {
  /// The limits and delays of a mesh.
  package struct Options: Hashable, Sendable {
    /// Whether the mesh connects to every peer that is found, and joins those that do so as well.
    package var joinsEveryone = true
    /// Whether peers may connect to this side.
    package var admitsPeers = true
    /// The maximum number of connected peers.
    package var limit = 1024
    /// The time for which the side with the higher id waits for the other side's connection before
    /// it opens one itself.
    package var dialBackDelay = Duration.milliseconds(300)
    /// The delay before the second attempt to connect to a peer. Each further delay is twice as
    /// long.
    package var firstRetryDelay = Duration.milliseconds(500)
    /// The longest delay between two attempts.
    package var longestRetryDelay = Duration.seconds(30)
    /// The time within which an open connection must be selected.
    package var selectionLimit = Duration.seconds(10)
    /// The time after which a connection counts as stable, so that its loss is not a failure.
    package var stableTime = Duration.seconds(10)

    package init() {}
  }

  /// What the owner has to do or to know, in order.
  package enum Output: Hashable, Sendable {
    /// Open a connection to this peer. Answer with `handleOpened` or `handleDialFailed`.
    case dial(PeerID)
    /// Stop opening a connection to this peer; no answer is needed.
    case cancelDial(PeerID)
    /// Grant the seat that the peer of this connection requested.
    case admit(ConnectionID)
    /// Close this connection.
    case close(ConnectionID, Goodbye, as: DisconnectReason)
    /// Send this message on the channel of the mesh.
    case send(MeshMessage, ConnectionID)
    /// The pair's connection was selected. `joins` is whether both sides join everyone.
    case linked(PeerID, ConnectionID, joins: Bool)
    /// The pair's connection has ended.
    case unlinked(PeerID, DisconnectReason)
    /// An attempt to connect to this peer has failed; another one follows if the peer is wanted.
    case failed(PeerID, DisconnectReason)
  }

  /// The maximum number of peers that are remembered without a connection. Peers that are found
  /// beyond it are ignored, so that a flood of advertisements takes no more memory.
  package static let entryLimit = 4096
  /// The maximum number of connections to one peer that wait to be selected.
  static let candidateLimit = 3

  package let local: PeerID
  /// What this side says about itself to every peer.
  package let hello: MeshHello
  package let options: Options
  /// The peers that are known, in the order of their ids.
  var entries: [MeshEntry] = []
  /// The peer of each connection.
  var peers: [ConnectionID: PeerID] = [:]
  var linkCount = 0
  /// The number of this side's last selection.
  private var lastUse: UInt32 = 0
  private var outputs = Deque<Output>()
  var generator: SeededGenerator

  /// Creates a mesh without peers. `generator` chooses the incarnation and varies the delays.
  package init(as local: PeerID, _ options: Options = Options(), generator: SeededGenerator) {
    var generator = generator
    self.local = local
    self.options = options
    hello = MeshHello(incarnation: generator.next(), joinsEveryone: options.joinsEveryone)
    self.generator = generator
  }

  /// Removes and returns the next output, or nil if there is none.
  package mutating func pollOutput() -> Output? { outputs.popFirst() }

  /// The next time at which `handleTimeout` must be called, or nil if nothing is due.
  package var nextTimeout: Instant? { entries.reduce(nil) { earliest($0, $1.nextTimeout) } }

  /// The peers with a selected connection, in the order of their ids.
  package var linkedPeers: [PeerID] { entries.filter { $0.selected != nil }.map(\.peer) }

  /// Returns the pair's connection to a peer, or nil if none is selected.
  package func connection(to peer: PeerID) -> ConnectionID? {
    index(of: peer).flatMap { entries[$0].selected?.connection }
  }

  /// Returns the peer whose selected connection this is, or nil if it is not a selected one.
  package func linkedPeer(of connection: ConnectionID) -> PeerID? {
    guard let peer = peers[connection], self.connection(to: peer) == connection else { return nil }
    return peer
  }

  func isDecider(for peer: PeerID) -> Bool { local < peer }

  mutating func emit(_ output: Output) { outputs.append(output) }
}

// MARK: - What the owner wants
extension Mesh {
  /// A peer was found on the network, or has advertised itself again.
  package mutating func handleFound(_ peer: PeerID, at now: Instant) {
    guard peer != local, let index = insert(peer) else { return }
    entries[index].isFound = true
    entries[index].isDismissed = false
    update(index, at: now)
  }

  /// A peer is no longer advertised. A connection to it stays.
  package mutating func handleLost(_ peer: PeerID, at now: Instant) {
    guard let index = index(of: peer) else { return }
    entries[index].isFound = false
    update(index, at: now)
  }

  /// Connects to a peer, whether or not the mesh connects to everyone, until `release` is called.
  package mutating func want(_ peer: PeerID, at now: Instant) {
    guard peer != local, let index = insert(peer) else { return }
    entries[index].isWanted = true
    entries[index].isDismissed = false
    if entries[index].isIdle { entries[index].retryAt = now }
    update(index, at: now)
  }

  /// Ends the effect of `want`. The connection stays.
  package mutating func release(_ peer: PeerID, at now: Instant) {
    guard let index = index(of: peer) else { return }
    entries[index].isWanted = false
    update(index, at: now)
  }

  /// Closes the connections to a peer, and does not connect to it until it is found again or
  /// wanted.
  package mutating func dismiss(_ peer: PeerID, _ goodbye: Goodbye, at now: Instant) {
    guard let index = index(of: peer) else { return }
    entries[index].isWanted = false
    entries[index].isDismissed = true
    for candidate in entries[index].candidates { close(candidate.connection, goodbye) }
    entries[index].candidates = []
    if let selected = entries[index].selected {
      unlink(index, .closedLocally)
      close(selected.connection, goodbye)
    }
    update(index, at: now)
  }
}

// MARK: - Connections
extension Mesh {
  /// A peer requests a seat on a connection that it has opened.
  package mutating func handleRequest(_ connection: ConnectionID, from peer: PeerID) {
    switch refusal(of: peer) {
    case nil: emit(.admit(connection))
    case (let goodbye, let reason)?: emit(.close(connection, goodbye, as: reason))
    }
  }

  private func refusal(of peer: PeerID) -> (Goodbye, DisconnectReason)? {
    if peer == local { return (Goodbye(.wrongApplication), .wrongApplication) }
    if !options.admitsPeers {
      return (Goodbye(.declined, text: "this peer is not visible"), .closedLocally)
    }
    guard let index = index(of: peer) else {
      return linkCount < options.limit && entries.count < Self.entryLimit
        ? nil : (Goodbye(.full), .full)
    }
    let entry = entries[index]
    if entry.selected == nil, linkCount >= options.limit { return (Goodbye(.full), .full) }
    if entry.candidates.count >= Self.candidateLimit { return (Goodbye(.busy), .busy) }
    return nil
  }

  /// A connection has opened. Both sides then say hello.
  package mutating func handleOpened(
    _ connection: ConnectionID, _ peer: PeerID, isIncoming: Bool, at now: Instant
  ) {
    guard peer != local, let index = insert(peer), isIncoming || entries[index].isDialing else {
      return close(connection, Goodbye(.left))
    }
    if !isIncoming { entries[index].isDialing = false }
    peers[connection] = peer
    entries[index].candidates.append(
      MeshEntry.Candidate(connection: connection, deadline: now + options.selectionLimit))
    var hello = hello
    hello.lastUse = entries[index].lastUse
    emit(.send(.hello(hello), connection))
  }

  /// The attempt to connect to a peer has failed.
  package mutating func handleDialFailed(
    _ peer: PeerID, _ reason: DisconnectReason, at now: Instant
  ) {
    guard let index = index(of: peer), entries[index].isDialing else { return }
    entries[index].isDialing = false
    fail(index, reason, at: now)
    update(index, at: now)
  }

  /// A connection has ended.
  package mutating func handleClosed(
    _ connection: ConnectionID, _ reason: DisconnectReason, at now: Instant
  ) {
    guard let peer = peers.removeValue(forKey: connection), let index = index(of: peer) else {
      return
    }
    if let selected = entries[index].selected, selected.connection == connection {
      if selected.since + options.stableTime <= now { entries[index].failures = 0 }
      if reason.endsInterest { entries[index].isDismissed = true }
      unlink(index, reason)
      delayRetry(index, at: now)
    } else {
      entries[index].candidates.removeAll { $0.connection == connection }
      if entries[index].isIdle { fail(index, reason, at: now) }
    }
    update(index, at: now)
  }

  /// Handles a hello or a selection from the other side. Returns false if the peer must not send
  /// this message now.
  package mutating func handle(
    _ message: MeshMessage, on connection: ConnectionID, at now: Instant
  ) -> Bool {
    guard let peer = peers[connection], let index = index(of: peer),
      let place = entries[index].candidates.firstIndex(where: { $0.connection == connection })
    else { return false }
    switch message {
    case .hello(let hello):
      guard entries[index].candidates[place].hello == nil else { return false }
      entries[index].candidates[place].hello = hello
      if isDecider(for: peer) { decide(index, connection, hello, at: now) }
      return true
    case .use(let number):
      guard !isDecider(for: peer), let hello = entries[index].candidates[place].hello else {
        return false
      }
      entries[index].lastUse = number
      select(index, connection, hello, use: number, at: now)
      return true
    case .invite, .answer, .withdraw, .confirm: return false
    }
  }

  /// Closes a connection on which the peer has violated the protocol. The peer is not connected to
  /// again until it is found again.
  package mutating func handleViolation(on connection: ConnectionID, at now: Instant) {
    guard let peer = peers[connection], let index = index(of: peer) else { return }
    emit(.close(connection, Goodbye(.protocolViolation), as: .protocolViolation))
    entries[index].isDismissed = true
    handleClosed(connection, .protocolViolation, at: now)
  }

  /// Decides, as the side with the lower id, about a connection whose other end has said hello.
  private mutating func decide(
    _ index: Int, _ connection: ConnectionID, _ hello: MeshHello, at now: Instant
  ) {
    if let selected = entries[index].selected, selected.use != hello.lastUse,
      selected.hello.incarnation == hello.incarnation
    {
      entries[index].candidates.removeAll { $0.connection == connection }
      return close(connection, Goodbye(.replaced))
    }
    lastUse &+= 1
    emit(.send(.use(number: lastUse), connection))
    select(index, connection, hello, use: lastUse, at: now)
    // Only the decider closes the others: the other side could still be told to use one of them.
    for candidate in entries[index].candidates { close(candidate.connection, Goodbye(.replaced)) }
    entries[index].candidates = []
  }

  private mutating func select(
    _ index: Int, _ connection: ConnectionID, _ hello: MeshHello, use: UInt32, at now: Instant
  ) {
    if let old = entries[index].selected?.connection {
      unlink(index, .replaced)
      close(old, Goodbye(.replaced))
    }
    let peer = entries[index].peer
    entries[index].candidates.removeAll { $0.connection == connection }
    entries[index].selected = MeshEntry.Selected(
      connection: connection, hello: hello, use: use, since: now)
    entries[index].retryAt = nil
    linkCount += 1
    cancelDial(index)
    let joins = options.joinsEveryone && hello.joinsEveryone
    emit(.linked(peer, connection, joins: joins))
  }

  private mutating func unlink(_ index: Int, _ reason: DisconnectReason) {
    entries[index].selected = nil
    linkCount -= 1
    emit(.unlinked(entries[index].peer, reason))
  }

  mutating func close(_ connection: ConnectionID, _ goodbye: Goodbye) {
    peers[connection] = nil
    emit(.close(connection, goodbye, as: .closedLocally))
  }
}
