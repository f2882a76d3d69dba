import CaromCore
import CaromTesting
import CaromTransport

/// A `VirtualNetwork` whose hosts run async code: sessions, and the tasks that use them.
///
/// Each host has a `NetworkLoop`. A session on that loop uses the virtual network in place of
/// sockets, and virtual time in place of the system's clock. Nothing else about the code under test
/// changes:
///
/// ```swift
/// try await SessionWorld.run(seed: 7, conditions: .mobile) { world in
///   let (server, client) = (world.addHost(), world.addHost())
///   try await Session.host(as: maya, loop: server.loop) { session, port in
///     try await Session.join(
///       [Endpoint(server.v4, port: port)], as: leo, loop: client.loop
///     ) { session, host in
///       try await host.send("hello", on: .chat)
///     }
///   }
/// }
/// ```
///
/// One thread runs everything: the tasks of the closure, the actors of the loops, timers and
/// arrivals, in the order in which they become due. Time stands still while any of them can run,
/// and then advances to the next timer or arrival. So runs with the same seed are equal, and
/// virtual minutes take milliseconds.
///
/// This holds for code that runs in the world: in the closure, in its child tasks (`async let` and
/// task groups) and in actors. Code that leaves the world is neither waited for nor repeatable:
/// `Task.sleep`, `Task.detached`, the main actor, other threads, system random numbers and clocks.
public final class SessionWorld: Sendable {
  /// A host of a world.
  public struct Host: Sendable {
    /// The host in the virtual network, for faults, conditions and statistics.
    public let host: VirtualHost
    /// The loop for the host's sessions, ticks and sleeping tasks.
    public let loop: NetworkLoop

    /// The host's IPv4 address.
    public var v4: IPAddress { host.v4 }
    /// The host's IPv6 address, which is link-local.
    public var v6: IPAddress { host.v6 }
  }

  let driver: WorldDriver
  /// The loop that runs the tasks of the closure passed to `run`.
  private let executor: NetworkLoop

  private init(_ network: VirtualNetwork, seed: UInt64) throws(TransportError) {
    driver = WorldDriver(network, seed: seed, on: try NetworkLoop(name: "carom-world"))
    executor = driver.makeLoop(name: "carom-world-tasks", host: nil)
  }

  /// Runs `body` in a new world and returns its result. The seed determines all random behavior:
  /// that of the network, of the sessions and of `random()`.
  ///
  /// If `body` has not returned when the virtual time reaches `limit`, because it is slow or waits
  /// for something that never happens, cancels its task and throws `TimeLimitExceeded`.
  public static func run<Result: Sendable>(
    seed: UInt64, conditions: LinkConditions = .lan, limit: Duration = .seconds(600),
    _ body: @escaping @Sendable (SessionWorld) async throws -> Result
  ) async throws -> Result {
    let network = VirtualNetwork(seed: seed, conditions: conditions)
    let world = try SessionWorld(network, seed: seed)
    do {
      let result = try await world.run(limit: limit, body)
      await world.driver.shutDown()
      return result
    } catch {
      await world.driver.shutDown()
      throw error
    }
  }

  private func run<Result: Sendable>(
    limit: Duration, _ body: @escaping @Sendable (SessionWorld) async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask(executorPreference: executor) { try await self.runInside(limit: limit, body) }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }

  /// Runs `body` and its time limit in child tasks of a task that runs in the world.
  private func runInside<Result: Sendable>(
    limit: Duration, _ body: @escaping @Sendable (SessionWorld) async throws -> Result
  ) async throws -> Result {
    driver.isRunning = true
    defer { driver.isRunning = false }
    return try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask {
        try await self.executor.sleep(until: .zero + limit)
        throw TimeLimitExceeded(limit: limit)
      }
      group.addTask {
        defer { self.driver.isRunning = false }
        return try await body(self)
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}

// MARK: - Hosts and time
extension SessionWorld {
  /// Adds a host on a new machine, which has an interface on each of the given segments.
  public func addHost(on segments: [Int] = [0]) -> Host {
    host(withNetwork { $0.addHost(on: segments) })
  }

  /// Adds a host to the machine of another host.
  public func addHost(beside other: Host) -> Host {
    host(withNetwork { $0.addHost(beside: other.host) })
  }

  private func host(_ host: VirtualHost) -> Host {
    Host(host: host, loop: driver.makeLoop(name: host.id.description, host: host))
  }

  /// Calls `body` with the virtual network and returns its result. Use this method to set
  /// conditions, to inject faults, and to read the trace and the statistics. Traps if the calling
  /// task does not run in the world.
  public func withNetwork<Result>(
    _ body: (inout VirtualNetwork) throws -> Result
  ) rethrows -> Result {
    driver.thread.preconditionCurrent("the network of a world")
    return try body(&driver.network)
  }

  /// Sets the conditions of both directions between two hosts.
  public func setProfile(_ profile: LinkProfile, from client: Host, to server: Host) {
    withNetwork { $0.setProfile(profile, from: client.host, to: server.host) }
  }

  /// The current virtual time, which is also that of each host's loop.
  public var now: Instant { driver.now }

  /// Suspends the task for a duration of virtual time, while everything else in the world
  /// continues. Throws `cancelled` if the task is cancelled.
  public func sleep(for duration: Duration) async throws(TransportError) {
    try await executor.sleep(until: now + duration)
  }

  /// Returns a random number that the seed determines, for example for a peer's id.
  public func random() -> UInt64 {
    driver.thread.preconditionCurrent("the random numbers of a world")
    return driver.generator.next()
  }
}

/// The error of a run whose closure had not returned at the limit of virtual time.
public struct TimeLimitExceeded: Error, Hashable, Sendable, CustomStringConvertible {
  /// The virtual time limit of the run.
  public let limit: Duration

  /// Creates the error of a run that was limited to `limit`.
  public init(limit: Duration) { self.limit = limit }

  /// A one-line message with the limit and a hint.
  public var description: String {
    "the closure was still running after \(limit) of virtual time; "
      + "check whether a task waits for a message that never comes, or for code outside the world"
  }
}
