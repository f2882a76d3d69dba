import CUVLoop
import CaromCore

/// A thread that waits for sockets and timers, and the executor of the actors that own them.
///
/// Sockets and timers are not `Sendable`: they are made and used on the loop's thread alone, by an
/// actor whose executor is the loop (`LoopActor`). Their callbacks run there too, inside that
/// actor: give them the actor as `owner`, and the closure is called as one of its methods would
/// be, without a hop. The socket holds its owner weakly.
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
/// Async code that belongs to the loop runs in `Task(executorPreference: loop)`. Without the
/// preference the waits of nonisolated functions take the way through the global pool, also when an
/// actor of the loop calls them; the closure of their `withCheckedContinuation` then runs there.
///
/// Dropping the last reference closes the loop and ends its thread; `shutdown` waits for that.
public final class NetworkLoop: Sendable {
  let core: LoopCore
  private let thread: Locked<Thread?>

  /// The thread's handle. Unchecked: it goes to whoever takes it out of the lock.
  @safe private struct Thread: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// Starts a thread that runs a new loop.
  ///
  /// A `spinning` loop never sleeps: round trips take half the time, and it costs a whole core.
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

  deinit {
    core.requestStop()
    if let thread = takeThread() { unsafe cuv_thread_detach(thread.pointer) }
  }

  private func takeThread() -> Thread? { thread.withLock { $0.take() } }

  /// The time now, on the clock that timers go by; it does not follow wall-clock changes.
  public static var now: Instant { Instant(nanoseconds: cuv_now()) }

  /// The time now, on the clock that timers go by.
  public var now: Instant { Self.now }

  /// How long this computer has been suspended since it was started, which `now` does not include;
  /// zero if the system does not provide this time.
  public static var timeSuspended: Duration { .nanoseconds(cuv_time_suspended()) }

  /// Whether the calling thread is the loop's.
  public var isCurrent: Bool { core.isCurrent }

  /// Traps with a clear message unless the calling thread is the loop's.
  public func preconditionCurrent(_ what: StaticString = "this") {
    precondition(
      core.isCurrent,
      "\(what) belongs to \(core.name)'s thread: call it from an actor whose executor is that loop")
  }

  /// Runs `body` on the loop's thread, after what is running there.
  public func post(_ body: sending @escaping () -> Void) {
    core.enqueue(.call(body))
  }

  /// Runs `body` on the loop's thread and returns what it does.
  public func run<Value: Sendable, Failure: Error>(
    _ body: sending @escaping () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let body = LoopBound(body)
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      post { continuation.resume(returning: Result(catching: body.value)) }
    }
    return try result.get()
  }

  /// Closes every socket and timer of the loop, then the loop, and waits until its thread ends.
  ///
  /// Streams say `closed(.closed)`. What is enqueued on the executor later still runs.
  public func shutdown() async {
    await withCheckedContinuation { continuation in
      let isClosed = core.inbox.withLock { inbox in
        if !inbox.isClosed { inbox.waiters.append(continuation) }
        return inbox.isClosed
      }
      if isClosed { return continuation.resume() }
      core.requestStop()
    }
    guard !isCurrent, let thread = takeThread() else { return }
    unsafe cuv_thread_join(thread.pointer)
  }
}

/// Runs `body` with a new loop, and shuts the loop down when `body` has returned or thrown.
public func withNetworkLoop<Value, Failure: Error>(
  name: String = "carom-loop", _ body: (NetworkLoop) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let loop: NetworkLoop
  do {
    loop = try NetworkLoop(name: name)
  } catch {
    fatalError("no event loop: \(error)")
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
