import CaromCBOR
import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Drives the machine of this side of a group over the connections of its session, and applies the
/// events to the state.
actor GroupHub<State: ReplicatedState>: LoopActor {
  /// How long to wait before trying again to send, if the application has filled a queue.
  private static var retryInterval: Duration { .milliseconds(5) }
  /// The interval between measurements of this side's connections.
  private static var qualityInterval: Duration { .seconds(2) }
  /// The number of bytes that a change counts as, in addition to its event.
  private static var changeCost: Int { 64 }
  /// The maximum number of values in an encoded state.
  private static var stateItemLimit: Int { 1 << 20 }

  nonisolated let loop: NetworkLoop
  nonisolated let changes = Inbox<GroupChange<State.Event>>(
    limit: GroupChanges<State.Event>.limit, byteLimit: GroupChanges<State.Event>.byteLimit,
    overflow: .dropOldestAndReport { .missed(changes: $0) })
  private let initialState: State
  private(set) var state: State
  private let local: PeerInfo
  private var replica: Replica
  private var links: [PeerID: GroupLink] = [:]
  private var waiters = GroupWaiters()
  /// The reason why this side is no longer a member; nil while it is one.
  private var failure: GroupError?
  private var timer: LoopTimer?
  private var retryTimer: LoopTimer?
  private var qualityTimer: LoopTimer?
  private var isDraining = false

  init(_ state: State, as local: PeerInfo, group: String, on loop: NetworkLoop) {
    self.loop = loop
    self.local = local
    initialState = state
    self.state = state
    var generator = LoopGenerator(of: loop)
    replica = Replica(
      as: local.id, name: local.name, group: group,
      generator: SeededGenerator(seed: generator.next()), at: loop.now)
  }

  var leader: PeerID? { replica.leader }
  var roster: Roster? { replica.roster }
  var bestHost: PeerID? { leader == local.id ? replica.bestHost : nil }

  func begin() {
    timer = LoopTimer(on: loop, owner: self) { $0.handleTimeout() }
    retryTimer = LoopTimer(on: loop, owner: self) { $0.sendWaiting() }
    qualityTimer = LoopTimer(on: loop, owner: self) { $0.measure() }
    qualityTimer?.arm(after: Self.qualityInterval)
    drain()
  }

  /// Leaves the group, which hears of it. Returns the reason for which this side had left it
  /// already, or nil if it had not.
  @discardableResult func end(_ reason: GroupError) -> GroupError? {
    if let failure { return failure }
    failure = reason
    // Otherwise the call of `drain` that is running does the rest.
    if !isDraining { leave() }
    return nil
  }

  private func leave() {
    replica.leave(at: loop.now)
    while let output = replica.pollOutput() {
      if case .send(let message, let peer) = output { send(message, to: peer) }
    }
    (timer, retryTimer, qualityTimer) = (nil, nil, nil)
    links = [:]
    changes.finish()
    waiters.resumeAll()
  }

  func handOver(to member: PeerID) -> Bool {
    guard failure == nil else { return false }
    defer { drain() }
    return replica.handOver(to: member, at: loop.now)
  }
}

// MARK: - The session
extension GroupHub {
  func handle(_ event: PeerEvent) {
    guard failure == nil else { return }
    let now = loop.now
    switch event {
    case .joined(let peer):
      links[peer.id] = GroupLink(peer)
      replica.handleJoined(peer.id, name: peer.name, at: now)
    case .left(let peer, _):
      guard links[peer.id]?.peer == peer else { return }
      links[peer.id] = nil
      replica.handleLeft(peer.id, at: now)
    case .interrupted(let peer): replica.handleInterrupted(peer.id, at: now)
    case .resumed(let peer): replica.handleResumed(peer.id, at: now)
    default: return
    }
    drain()
  }

  /// Handles a message of a peer. Returns false if it violates the protocol.
  func receive(_ bytes: [UInt8], on channel: GroupChannel, from peer: Peer) -> Bool {
    guard failure == nil, links[peer.id]?.peer == peer else { return true }
    guard let message = ReplicaMessage(decoding: bytes.span, on: channel) else { return false }
    defer { drain() }
    return replica.receive(message, from: peer.id, at: loop.now)
  }

  private func send(_ message: ReplicaMessage, to peer: PeerID) {
    links[peer]?.send(message.encoded, on: message.channel)
    if links[peer]?.isBlocked == true { retryTimer?.arm(after: Self.retryInterval) }
  }

  private func sendWaiting() {
    var isBlocked = false
    for peer in links.keys.sorted() {
      links[peer]?.sendWaiting()
      if links[peer]?.isBlocked == true { isBlocked = true }
    }
    if isBlocked { retryTimer?.arm(after: Self.retryInterval) }
  }

  private func measure() {
    let measurements = links.keys.sorted().compactMap { links[$0]?.peer.currentStatistics }
    replica.setQuality(HostQuality(measurements))
    qualityTimer?.arm(after: Self.qualityInterval)
  }
}

// MARK: - Events
extension GroupHub {
  func submit(_ event: State.Event) async throws(GroupError) -> UInt64 {
    let bytes = try encode(event)
    while true {
      if let failure { throw failure }
      if Task.isCancelled { throw .cancelled }
      if let number = replica.submit(bytes, at: loop.now) {
        drain()
        return number
      }
      await wait { $0.waiters.waitForRoom($1, $2) }
    }
  }

  private func encode(_ event: State.Event) throws(GroupError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = try PacketEncoder().encode(event) } catch { throw .eventNotEncodable("\(error)") }
    guard bytes.count <= LedgerEntry.maximumLength else {
      throw .eventTooLong(bytes: bytes.count, limit: LedgerEntry.maximumLength)
    }
    return bytes
  }

  func waitUntilApplied(_ number: UInt64) async throws(GroupError) {
    while replica.appliedOwnSequence < number {
      if let failure { throw failure }
      if Task.isCancelled { throw .cancelled }
      await wait { $0.waiters.wait(for: number, $1, $2) }
    }
  }

  private func wait(_ store: (isolated GroupHub, Int, GroupWaiters.Waiter) -> Void) async {
    let number = waiters.nextNumber()
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        // Both may have happened since the caller has looked.
        if failure != nil || Task.isCancelled { return waiter.resume() }
        store(self, number, waiter)
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.waiters.cancel(number) } }
    }
  }
}

// MARK: - The machine
extension GroupHub {
  private func handleTimeout() {
    replica.handleTimeout(at: loop.now)
    drain()
  }

  /// Carries out what the machine asks for. A call from within leaves the outputs to the one that
  /// is running.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    while failure == nil, let output = replica.pollOutput() { carryOut(output) }
    isDraining = false
    guard failure == nil else { return leave() }
    waiters.resumeApplied(upTo: replica.appliedOwnSequence)
    if replica.hasRoom { waiters.resumeRoom() }
    if let due = replica.nextTimeout { timer?.arm(at: due) } else { timer?.cancel() }
  }

  private func carryOut(_ output: Replica.Output) {
    switch output {
    case .send(let message, let peer): send(message, to: peer)
    case .leader(let leader): report(.leader(leader))
    case .roster(let roster): report(.roster(roster), bytes: roster.members.count * Self.changeCost)
    case .applied(let entry): apply(entry)
    case .restored(let bytes, _, _): restore(bytes)
    case .snapshotNeeded(let number): provideSnapshot(number)
    case .stateUnavailable(let leader): end(.stateTooLarge(leader: leader))
    }
  }

  private func report(_ change: GroupChange<State.Event>, bytes: Int = 0) {
    _ = changes.push(change, bytes: Self.changeCost + bytes)
  }

  private func apply(_ entry: LedgerEntry) {
    do throws(DecodeError) {
      let event = try PacketDecoder().decode(State.Event.self, from: entry.bytes.span)
      state.apply(event, entry)
      report(.applied(event, entry), bytes: entry.bytes.count)
    } catch { report(.invalid(entry), bytes: entry.bytes.count) }
  }

  private func restore(_ bytes: [UInt8]?) {
    do throws(DecodeError) {
      let decoder = PacketDecoder(itemLimit: Self.stateItemLimit)
      state =
        try bytes.map { bytes throws(DecodeError) in
          try decoder.decode(State.self, from: bytes)
        } ?? initialState
      report(.replaced)
    } catch { end(.stateNotDecodable("\(error)")) }
  }

  private func provideSnapshot(_ number: UInt32) {
    do {
      let bytes = try PacketEncoder(itemLimit: Self.stateItemLimit).encode(state)
      if bytes.count <= Replica.snapshotLimit {
        replica.provideSnapshot(number, bytes, at: loop.now)
      } else {
        replica.refuseSnapshot(number, at: loop.now)
      }
    } catch { end(.stateNotEncodable("\(error)")) }
  }
}
