import CaromCore
import CaromProtocol
import CaromTesting
import CaromTransport
import Dispatch

/// A session for programs with a frame loop: host or join from any thread, and poll for events and
/// messages once per frame. No method blocks except `close`.
///
/// ```swift
/// let session = try SessionPoller.join([endpoint], as: me)
/// // each frame:
/// while let event = session.poll() {
///   switch event {
///   case .peer(.joined(let host)): game.begin(with: host)
///   case .failed(let error): menu.show("\(error)")
///   default: break
///   }
/// }
/// for state in session.takeMessages(on: .states) { game.apply(state.message) }
/// _ = session.post(input, on: .inputs)
/// // at the end:
/// session.close()
/// ```
///
/// The session runs on a loop's own thread. Releasing the poller ends the session without waiting
/// for it.
public final class SessionPoller: Sendable {
  /// An event of a poller.
  public enum Event: Hashable, Sendable {
    /// The hosted session listens on the port. This is a host's first event.
    case listening(port: UInt16)
    /// An event of the session. For a client, `joined` with the host as its peer means that the
    /// host has granted the seat.
    case peer(PeerEvent)
    /// The session could not be hosted or joined. No event follows.
    case failed(SessionError)
  }

  /// The loop that the session runs on.
  public let loop: NetworkLoop
  private let core: PollerCore
  private let task: Task<Void, Never>

  private init(
    on loop: NetworkLoop?, _ run: @escaping @Sendable (NetworkLoop, PollerCore) async throws -> Void
  ) throws(TransportError) {
    let loop = if let loop { loop } else { try NetworkLoop(name: "carom-session") }
    let core = PollerCore()
    self.loop = loop
    self.core = core
    task = Task(executorPreference: loop) {
      do {
        try await run(loop, core)
      } catch {
        core.fail(with: error)
      }
      core.done.signal()
    }
  }

  deinit { task.cancel() }

  /// Hosts a session, with the parameters of `Session.host`. If `loop` is nil, the session has a
  /// loop of its own. Throws an error only if that loop cannot be created; every other error is a
  /// `failed` event.
  public static func host(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    browsers: BrowserOptions = BrowserOptions(), routing: SessionRouting = SessionRouting(),
    conditions: LinkProfile? = nil, loop: NetworkLoop? = nil,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept }
  ) throws(TransportError) -> SessionPoller {
    try SessionPoller(on: loop) { loop, core in
      try await Session.host(
        as: local, port: port, on: addresses, over: kinds, seats: seats,
        spectatorSeats: spectatorSeats, timing: timing, security: security,
        browsers: browsers, routing: routing, conditions: conditions, loop: loop, admit: admit
      ) { session, port in
        core.begin(session, .listening(port: port))
        await session.waitForEnd()
      }
    }
  }

  /// Joins a session, with the parameters of `Session.join`. If `loop` is nil, the session has a
  /// loop of its own. Throws an error only if that loop cannot be created; every other error is a
  /// `failed` event.
  public static func join(
    _ endpoints: [Endpoint], as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    within limit: Duration = .seconds(10), retrying policy: RetryPolicy = .never,
    token: JoinToken? = nil, hostKey: PublicKey? = nil,
    routing: SessionRouting = SessionRouting(), conditions: LinkProfile? = nil,
    loop: NetworkLoop? = nil
  ) throws(TransportError) -> SessionPoller {
    try SessionPoller(on: loop) { loop, core in
      try await Session.join(
        endpoints, as: local, over: kinds, timing: timing, security: security, within: limit,
        retrying: policy, token: token, hostKey: hostKey, routing: routing,
        conditions: conditions, loop: loop
      ) { session, _ in
        core.begin(session)
        await session.waitForEnd()
      }
    }
  }

  /// The session, for what this class does not offer; nil until it has begun.
  public var session: Session? { core.session }

  /// Returns the next event, or nil if there is none now.
  public func poll() -> Event? { core.poll() }

  /// Removes and returns the messages that have arrived on one channel since the previous call.
  /// Messages that arrived before the first call are kept, as `Session.messages` describes.
  public func takeMessages<Message>(on channel: MessageChannel<Message>) -> [Received<Message>] {
    core.session?.takeMessages(on: channel) ?? []
  }

  /// Queues a message to all peers, as `Session.post` does. Use `Peer.post` for one peer. Returns
  /// false if the session has not begun, or if the message is not accepted for every peer.
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    core.session?.post(message, on: channel, lifetime: lifetime) ?? false
  }

  /// Ends the session, or the attempt to join one, and blocks until the goodbyes have been sent,
  /// for at most about `SessionTiming.closeLimit`. On the loop's own thread, does not block. Events
  /// and messages that have arrived can still be polled.
  public func close() {
    core.close()
    task.cancel()
    guard !loop.isCurrent else { return }
    core.done.wait()
    core.done.signal()  // for further calls
  }
}

/// The state of a poller that its task shares with the threads that poll.
private final class PollerCore: Sendable {
  private struct State: Sendable {
    var session: Session?
    /// The event that precedes those of the session.
    var first: SessionPoller.Event?
    var failure: SessionError?
    var isClosed = false
  }

  private let state = Locked(State())
  /// Signalled when the session has ended.
  let done = DispatchSemaphore(value: 0)

  var session: Session? { state.withLock { $0.session } }

  func begin(_ session: Session, _ first: SessionPoller.Event? = nil) {
    state.withLock { ($0.session, $0.first) = (session, first) }
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Stores the error with which the session ended, unless the poller was closed.
  func fail(with error: any Error) {
    let failure: SessionError? =
      switch error {
      case let error as SessionError: error
      case let error as TransportError: .transport(error)
      default: nil
      }
    state.withLock { if !$0.isClosed { $0.failure = failure } }
  }

  func poll() -> SessionPoller.Event? {
    let (first, session) = state.withLock { state in
      defer { state.first = nil }
      return (state.first, state.session)
    }
    if let first { return first }
    if let event = session?.poll() { return .peer(event) }
    return state.withLock { $0.failure.take() }.map { .failed($0) }
  }
}
