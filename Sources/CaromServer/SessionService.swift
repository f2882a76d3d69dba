import CaromProtocol
import CaromSession
import CaromTransport
import ServiceLifecycle

/// A session as a service of a swift-service-lifecycle group: the session runs with the group, and
/// sends its goodbyes when the group shuts down gracefully.
///
/// ```swift
/// let rooms = SessionService(on: loop) { loop in
///   try await Session.host(as: me, port: 7777, seats: 64, loop: loop) { session, port in
///     for await line in session.messages(on: .chat) {
///       try await session.broadcast(line.message, on: .chat)
///     }
///   }
/// }
/// let group = ServiceGroup(
///   services: [rooms], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A shutdown cancels the closure's task. Loops over messages, events and ticks then end, the
/// closure returns, and the session sends the goodbye `finished` to its peers.
public struct SessionService: ServiceLifecycle.Service {
  private let body: @Sendable () async throws -> Void

  /// Creates a service that runs `body`, which hosts or joins a session on `loop`.
  public init(on loop: NetworkLoop, _ body: @escaping @Sendable (NetworkLoop) async throws -> Void)
  {
    self.body = { try await body(loop) }
  }

  /// Creates a service that runs `body`, which hosts a session on `loops`. If `loops` is empty, the
  /// service creates one loop for `body`, and shuts it down when `body` has ended.
  public init(
    on loops: [NetworkLoop] = [], _ body: @escaping @Sendable ([NetworkLoop]) async throws -> Void
  ) {
    self.body = {
      guard loops.isEmpty else { return try await body(loops) }
      try await withNetworkLoop { try await body([$0]) }
    }
  }

  /// Runs the session until it ends or the service group shuts down gracefully.
  public func run() async throws {
    let body = body
    try await cancelWhenGracefulShutdown { try await body() }
  }
}
