import CUVLoop
import CaromCore

/// A thread that waits for sockets and timers, and the executor of the actors that own them.
///
/// Sockets and timers are not `Sendable`. They are created and used only on the loop's thread, by
/// an actor whose executor is the loop (`LoopActor`). If the actor is passed as their `owner`,
/// their callbacks run isolated to the actor, without an actor hop. A socket holds its owner
/// weakly.
///
/// ```swift
/// actor Echo: LoopActor {
///   nonisolated let loop: NetworkLoop
///   private var socket: UDPSocket?
///
///   init(on loop: NetworkLoop) { self.loop = loop }
///
///   func open() throws(TransportError) -> Endpoint {
///     let socket = try UDPSocket(on: loop, owner: self) { echo, batch in echo.receive(batch) }
///     self.socket = socket
///     return socket.localEndpoint
///   }
///
///   private func receive(_ batch: borrowing UDPBatch) {
///     for index in batch.indices { socket?.send(batch[index].payload, to: batch[index].source) }
///     socket?.flush()
///   }
/// }
/// ```
///
/// Async code that uses sockets outside an actor must run in `Task(executorPreference: loop)`.
/// Without that preference, a nonisolated async function runs on the global thread pool, even when
/// an actor on the loop calls it, and so does a closure that it passes to
/// `withCheckedContinuation`.
///
/// Releasing the last reference to a loop closes the loop and ends its thread. `shutdown` also does
/// this, and waits until the thread has ended.
public final class NetworkLoop: Sendable {
  let core: LoopCore
  private let thread: Locked<Thread?>

  /// The handle of the loop's thread. The conformance is unchecked, but safe: only the code that
  /// takes the handle out of `thread` uses it.
  @safe private struct Thread: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// Creates a loop and starts the thread that runs it.
  ///
  /// A `spinning` loop polls without ever blocking, which halves the time of a round trip but
  /// occupies a whole core.
  public init(name: String = "carom-loop", spinning: Bool = false) throws(TransportError) {
    core = try LoopCore.make(name: name, spins: spinning)
    thread = Locked(nil)
    unsafe core.use(
      executor: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    do throws(TransportError) {
      let started = try unsafe Thread(pointer: core.startThread())
      thread.withLock { $0 = started }
    } catch {
      core.abandon()
      throw error
    }
  }

  /// Creates a loop that `system` drives. Its actors run on the thread of the simulation.
  package init(name: String, system: any VirtualSystem) {
    core = LoopCore.make(name: name, system: system)
    thread = Locked(nil)
    unsafe core.use(
      executor: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
  }

  deinit {
    core.requestStop()
    if let thread = thread.withLock({ $0.take() }) { unsafe cuv_thread_detach(thread.pointer) }
  }

  /// The current time on the monotonic clock that timers use.
  public static var now: Instant { Instant(nanoseconds: cuv_now()) }

  /// The current time on the monotonic clock that timers use.
  public var now: Instant { core.now }

  /// How long this computer has been suspended since it was started; zero if the system does not
  /// provide this time. `now` does not include it.
  public static var timeSuspended: Duration { .nanoseconds(cuv_time_suspended()) }

  /// Whether the calling thread is the loop's thread.
  public var isCurrent: Bool { core.isCurrent }

  /// Traps unless called on the loop's thread. The message says that `what` must be used on that
  /// thread.
  public func preconditionCurrent(_ what: StaticString = "this") {
    precondition(
      core.isCurrent,
      "\(what) belongs to \(core.name)'s thread: call it from an actor whose executor is that loop")
  }

  /// Runs `body` on the loop's thread, after the work that is already queued there.
  public func post(_ body: sending @escaping () -> Void) {
    core.enqueue(.call(body))
  }

  /// Runs `body` on the loop's thread and returns its result or throws its error.
  public func run<Value: Sendable, Failure: Error>(
    _ body: sending @escaping () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let body = LoopBound(body)
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      post { continuation.resume(returning: Result(catching: body.value)) }
    }
    return try result.get()
  }

  /// Closes all sockets and timers, then the loop, and waits until its thread has ended.
  ///
  /// Open streams report `closed(.closed)`. Jobs enqueued on the executor after that still run. A
  /// session or a browser that still uses the loop is not told: end them before.
  public func shutdown() async {
    await withCheckedContinuation { continuation in
      let hasEnded = core.inbox.withLock { inbox in
        if !inbox.hasEnded { inbox.waiters.append(continuation) }
        return inbox.hasEnded
      }
      if hasEnded { return continuation.resume() }
      core.requestStop()
    }
    // The lock is held until the thread has ended, so that every caller waits. The thread itself
    // does not get here: work that runs this late has a thread of its own.
    thread.withLock { thread in
      if let thread = thread.take() { unsafe cuv_thread_join(thread.pointer) }
    }
  }
}

/// Runs `body` with a new loop, and shuts the loop down when `body` has returned or thrown. Traps
/// if the loop cannot be created.
public func withNetworkLoop<Value, Failure: Error>(
  name: String = "carom-loop", _ body: (NetworkLoop) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let loop: NetworkLoop
  do {
    loop = try NetworkLoop(name: name)
  } catch {
    fatalError("cannot create a network loop: \(error)")
  }
  do throws(Failure) {
    let value = try await body(loop)
    await loop.shutdown()
    return value
  } catch {
    await loop.shutdown()
    throw error
  }
}
