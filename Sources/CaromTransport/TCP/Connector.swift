import CaromCore

/// Races connection attempts (RFC 8305 §5): one result, and nothing of the losers stays open.
final class Connector {
  private let loop: NetworkLoop
  private let attemptDelay: Duration
  private var waiting: [Endpoint]
  private var attempts: [ConnectAttempt] = []
  private var result: Result<TCPStream, TransportError>?
  private var firstError: TransportError?
  private var continuation: CheckedContinuation<Void, Never>?
  private var deadlineTimer: TimerCore?
  private var attemptTimer: TimerCore?

  init(to endpoints: [Endpoint], on loop: NetworkLoop, attemptDelay: Duration) {
    self.loop = loop
    self.attemptDelay = attemptDelay
    waiting = endpoints.reversed()
  }

  /// Every address once, families in turn, beginning with the family of the first (RFC 8305 §4).
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

  /// Begins with the next address; those that fail at once are passed over.
  private func startNext() {
    while result == nil, let endpoint = waiting.popLast() {
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

  /// An attempt has its answer.
  func decide(_ attempt: ConnectAttempt, _ status: Int32) {
    attempts.removeAll { $0 === attempt }
    do throws(TransportError) {
      try check(status, "connect")
      guard let handle = unsafe attempt.take() else { throw .closed }
      finish(.success(try unsafe TCPStream(on: loop, taking: handle, peer: attempt.peer)))
    } catch {
      attempt.close()
      firstError = firstError ?? error
      startNext()
    }
  }

  /// The loop shuts down under an attempt.
  func fail(_ attempt: ConnectAttempt) {
    attempts.removeAll { $0 === attempt }
    finish(.failure(.closed))
  }

  func finish(_ result: Result<TCPStream, TransportError>) {
    guard self.result == nil else { return }
    self.result = result
    let losers = attempts
    attempts = []
    for attempt in losers { attempt.close() }
    deadlineTimer?.close()
    attemptTimer?.close()
    resume()
  }

  private func resume() {
    continuation?.resume()
    continuation = nil
  }

  func takeResult() throws(TransportError) -> TCPStream {
    guard let result else { throw .cancelled }
    self.result = .failure(.closed)
    return try result.get()
  }
}
