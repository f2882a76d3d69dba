import CaromCore

/// Races connection attempts to several endpoints (RFC 8305 §5). The first attempt that succeeds is
/// the result; all others are closed.
final class Connector {
  private let loop: NetworkLoop
  private let attemptDelay: Duration
  private var remaining: [Endpoint]
  private var attempts: [ConnectAttempt] = []
  private var result: Result<TCPStream, TransportError>?
  private var firstError: TransportError?
  private var continuation: CheckedContinuation<Void, Never>?
  private var deadlineTimer: TimerCore?
  private var attemptTimer: TimerCore?

  init(to endpoints: [Endpoint], on loop: NetworkLoop, attemptDelay: Duration) {
    self.loop = loop
    self.attemptDelay = attemptDelay
    remaining = endpoints.reversed()
  }

  /// Returns the endpoints without duplicates, alternating between the address families and
  /// beginning with the family of the first endpoint (RFC 8305 §4).
  static func interleaved(_ endpoints: [Endpoint]) -> [Endpoint] {
    var seen: Set<Endpoint> = []
    let unique = endpoints.filter { seen.insert($0).inserted }
    guard let first = unique.first else { return [] }
    let same = unique.filter { $0.address.isV6 == first.address.isV6 }
    let other = unique.filter { $0.address.isV6 != first.address.isV6 }
    return (0..<max(same.count, other.count)).flatMap { index in
      [same, other].compactMap { index < $0.count ? $0[index] : nil }
    }
  }

  func start(until deadline: Instant, _ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    guard result == nil else { return resume() }
    deadlineTimer = TimerCore(core: loop.core) { [weak self] in
      self?.finish(.failure(.timedOut))
    }
    attemptTimer = TimerCore(core: loop.core) { [weak self] in self?.startNext() }
    deadlineTimer?.arm(at: deadline)
    startNext()
  }

  /// Starts the attempt to the next endpoint, skipping endpoints whose attempts fail at once.
  private func startNext() {
    while result == nil, let endpoint = remaining.popLast() {
      do throws(TransportError) {
        attempts.append(try ConnectAttempt(to: endpoint, for: self, on: loop.core))
        attemptTimer?.arm(at: loop.now + attemptDelay)
        return
      } catch {
        firstError = firstError ?? error
      }
    }
    if attempts.isEmpty { finish(.failure(firstError ?? .unreachable)) }
  }

  /// Handles the end of an attempt. `status` is 0 if the attempt succeeded, or a negative errno.
  func attemptDidEnd(_ attempt: ConnectAttempt, _ status: Int32) {
    attempts.removeAll { $0 === attempt }
    do throws(TransportError) {
      try check(status, "connect", at: attempt.peer)
      guard let handle = attempt.detachStream() else { throw .closed }
      finish(.success(try TCPStream(on: loop, taking: handle, peer: attempt.peer)))
    } catch {
      attempt.close()
      firstError = firstError ?? error
      startNext()
    }
  }

  /// Handles the shutdown of the loop during an attempt.
  func attemptDidShutDown(_ attempt: ConnectAttempt) {
    attempts.removeAll { $0 === attempt }
    finish(.failure(.closed))
  }

  func finish(_ result: Result<TCPStream, TransportError>) {
    guard self.result == nil else { return }
    self.result = result
    let unfinished = attempts
    attempts = []
    for attempt in unfinished { attempt.close() }
    deadlineTimer?.close()
    attemptTimer?.close()
    resume()
  }

  private func resume() {
    continuation?.resume()
    continuation = nil
  }

  func removeResult() throws(TransportError) -> TCPStream {
    guard let result else { throw .cancelled }
    self.result = .failure(.closed)
    return try result.get()
  }
}
