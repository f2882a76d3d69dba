import CaromCore
import CaromCrypto
import CaromDiscovery
import CaromGroup
import CaromNearby
import CaromProtocol
import CaromSession
import CaromTransport
import Dispatch

/// Everything that one own id does on the network, for all of its sessions, advertisers and
/// browsers: one node with one port, on which each pair of peers has one connection.
actor PeerEngine: LoopActor {
  /// The reliable channel between members: `MemberMessage`.
  static let reliable = MessageChannel<RawMessage>(0, .reliableOrdered)
  /// The unreliable channel: the application's data, without a header.
  static let unreliable = MessageChannel<RawMessage>(1, .unreliable)

  /// The running session and what belongs to it.
  struct Running {
    let nearby: NearbySession
    let files: SessionFiles
    let streams: SessionStreams
  }

  private enum State {
    /// Nothing is on the network yet.
    case idle
    /// The commands wait for the node.
    case starting([(isolated PeerEngine) -> Void])
    case running(Running)
    /// The node could not start.
    case failed(MCError)
    case ended
  }

  nonisolated let loop: NetworkLoop
  nonisolated let local: MCPeerID
  /// The queue of all delegate calls that concern this id.
  nonisolated let queue: DispatchQueue
  nonisolated let backlog = Backlog()
  private let identity: Identity
  private var state = State.idle
  /// Whether the engine ends once everything has been sent.
  private(set) var isStopping = false
  /// The folder for received resources, which is made on first use.
  var resourceFolder: ResourceFolder?
  /// Ends the scope of the node when it is finished.
  private var endInput: AsyncStream<Never>.Continuation?

  var advertisers: [UInt64: Advertising] = [:]
  var browsers: [UInt64: Browsing] = [:]
  private var lastNumber: UInt64 = 0
  /// The peers that are invited, connecting or connected, each with its session.
  var members: [PeerID: Member] = [:]
  /// The peers whose connection is being closed after the last data was sent, with what waits for
  /// that.
  var closing: [PeerID: [(isolated PeerEngine) -> Void]] = [:]
  /// The invitations of peers that say that another member has introduced them, until that member
  /// does; the oldest first.
  var unintroduced: [NearbyInvitation] = []
  /// The sessions whose connection data was given to others.
  var openSessions: [SessionToken: SessionCore] = [:]

  init(_ local: MCPeerID, _ identity: Identity, on loop: NetworkLoop) {
    self.local = local
    self.identity = identity
    self.loop = loop
    queue = DispatchQueue(label: "MultipeerConnectivity")
  }

  /// Runs `body` on the loop, after what was posted before. Can be called from any thread.
  nonisolated func post(_ body: @escaping @Sendable (isolated PeerEngine) -> Void) {
    loop.post { self.assumeIsolated { body($0) } }
  }

  func makeNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}

// MARK: - The node
extension PeerEngine {
  /// The running node; nil if it has not started, has failed or has ended.
  var running: Running? { if case .running(let running) = state { running } else { nil } }

  /// The error with which the node could not start.
  var failure: MCError? { if case .failed(let error) = state { error } else { nil } }

  /// Runs `body` once the node runs, which is started if necessary, or has failed to start.
  func whenStarted(_ body: @escaping (isolated PeerEngine) -> Void) {
    switch state {
    case .idle, .failed:
      state = .starting([body])
      start()
    case .starting(let waiting): state = .starting(waiting + [body])
    case .running: body(self)
    case .ended: break
    }
  }

  private func start() {
    var settings = Nearby(local.displayName, type: "_carom-mpc._udp", on: loop)
    settings.interfaces = MultipeerNetwork.selection
    settings.security = .anyone(as: identity)
    // The task keeps this engine alive until it has ended, which the last handle causes.
    RunningEngines.insert(self)
    Task(executorPreference: loop) {
      do {
        try await settings.run([]) { nearby in
          try await nearby.session.withFiles { files in
            try await nearby.session.withStreams { streams in
              let running = Running(nearby: nearby, files: files, streams: streams)
              guard let end = await self.begin(running) else { return }
              await self.serve(running, until: end)
            }
          }
        }
      } catch {
        await self.fail(error)
      }
      RunningEngines.remove(self)
    }
  }

  /// Connects the node with this engine, and makes the calls that have waited for it. Returns the
  /// end of the engine as a sequence, or nil if the engine has ended already.
  private func begin(_ running: Running) async -> AsyncStream<Never>? {
    guard case .starting = state else { return nil }
    await running.nearby.session.addObserver { [weak self] event in
      self?.assumeIsolated { $0.handle(event) }
    }
    for channel in [Self.reliable, Self.unreliable] {
      await running.nearby.session.setReceiver(of: channel.id) { [weak self] peer, bytes in
        let bytes = Array(copying: bytes)
        return self?.assumeIsolated { $0.receive(bytes, on: channel.id, from: peer) } ?? true
      }
    }
    guard case .starting(let waiting) = state else { return nil }
    state = .running(running)
    backlog.setHandlers(
      full: { [weak self] in self?.post { $0.pauseReading() } },
      low: { [weak self] in self?.post { $0.resumeReading() } })
    for body in waiting { body(self) }
    let (end, input) = AsyncStream.makeStream(of: Never.self)
    endInput = input
    return end
  }

  /// Handles what arrives until the engine ends.
  private func serve(_ running: Running, until end: AsyncStream<Never>) async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        for await invitation in running.nearby.invitations { await self.handle(invitation) }
      }
      tasks.addTask {
        for await offer in running.files.offers { await self.handle(offer) }
      }
      tasks.addTask {
        for await stream in running.streams.incoming { await self.handle(stream) }
      }
      for await _ in end {}
      tasks.cancelAll()
    }
  }

  private func fail(_ error: any Error) {
    guard case .starting(let waiting) = state else { return }
    state = .failed(MCError(.unavailable, reason: "the network cannot be used: \(error)"))
    for body in waiting { body(self) }
  }

  /// Ends everything, because no object of this id is left or the process ends. What was sent
  /// before is still given to the connections.
  func stop() {
    isStopping = true
    for (id, member) in members { disconnect(id, from: member.session) }
    guard closing.isEmpty else { return }
    state = .ended
    (advertisers, browsers, openSessions) = ([:], [:], [:])
    unintroduced = []
    resourceFolder?.remove()
    resourceFolder = nil
    endInput?.finish()
    endInput = nil
  }

  private func pauseReading() {
    running?.nearby.session.node.assumeIsolated { $0.pause(channel: Self.reliable.id) }
  }

  private func resumeReading() {
    running?.nearby.session.node.assumeIsolated { $0.resume(channel: Self.reliable.id) }
  }
}
