import CaromCore
import CaromPlacement
import CaromTransport

/// One connection to a Redis server. Commands are sent at once and answered in their order.
///
/// A connection that has failed stays closed, and every command fails with the same error.
package actor RedisConnection: LoopActor {
  /// The maximum number of commands without an answer.
  package static let commandLimit = 16_384
  /// How long an answer may take. A host's lease ends after that.
  package static let answerLimit = Duration.seconds(3)

  /// How many bytes may wait to be sent: a checkpoint of the greatest length for each of the
  /// matches that a host can have, and a registration with all of them.
  static let queueLimit = 16 << 20

  package typealias Completion = @Sendable (Result<RESPValue, RedisError>) -> Void

  /// A command that has been sent.
  private struct Waiting: Sendable {
    let deadline: Instant
    let complete: Completion
  }

  package nonisolated let loop: NetworkLoop
  private let stream: TCPStream
  private var decoder = RESPDecoder()
  private var waiting = Deque<Waiting>()
  private var timer: LoopTimer?
  private var failure: RedisError?
  /// Whether the server has sent anything.
  private var hasHeard = false
  /// What waits for the end of the handshake of TLS; nil if there is none under way.
  private var opening: CheckedContinuation<Void, Never>?
  private var isOpening = false
  private var onFailure: (@Sendable (RedisError) -> Void)?

  private init(_ stream: TCPStream, on loop: NetworkLoop) {
    self.loop = loop
    self.stream = stream
  }

  /// Connects to the first of `endpoints` that accepts the connection within 3 seconds. With
  /// `trust`, uses TLS: the server must have a certificate for `host`, and the handshake may take 3
  /// seconds more.
  package static func open(
    to endpoints: [Endpoint], of host: String = "", trusting trust: TLSTrust? = nil,
    on loop: NetworkLoop
  ) async throws(RedisError) -> RedisConnection {
    let opening = Task(executorPreference: loop) { () -> Result<RedisConnection, RedisError> in
      do throws(TransportError) {
        let stream = try await TCPStream.connect(
          to: endpoints, on: loop, deadline: answerLimit)
        if let trust { try stream.becomeTLSClient(to: host, trusting: trust) }
        let connection = RedisConnection(stream, on: loop)
        return await connection.start().map { connection }
      } catch {
        return .failure(error == .timedOut ? .timedOut : .transport(error))
      }
    }
    return try await withTaskCancellationHandler {
      await opening.value
    } onCancel: {
      opening.cancel()
    }.get()
  }

  /// Begins to read. With TLS, returns when the handshake has ended.
  private func start() async -> Result<Void, RedisError> {
    stream.queueLimit = Self.queueLimit
    timer = LoopTimer(on: loop, owner: self) { $0.timeOut() }
    stream.setHandler(owner: self) { connection, event in connection.handle(event) }
    guard stream.isTLS else { return .success(()) }
    isOpening = true
    timer?.arm(after: Self.answerLimit)
    await withTaskCancellationHandler {
      await withCheckedContinuation { opening = $0 }
    } onCancel: {
      loop.post { [weak self] in self?.assumeIsolated { $0.fail(.transport(.cancelled)) } }
    }
    return failure.map { .failure($0) } ?? .success(())
  }

  private func endHandshake() {
    guard isOpening else { return }
    isOpening = false
    timer?.cancel()
    opening.take()?.resume()
  }

  /// Whether a command waits for its answer.
  var isWaiting: Bool { !waiting.isEmpty }

  /// Calls `body` once on the loop's thread when the connection fails or is closed, after the
  /// commands without an answer have failed; at once if it has failed already.
  package func setFailureHandler(_ body: @escaping @Sendable (RedisError) -> Void) {
    if let failure { return body(failure) }
    onFailure = body
  }

  /// Sends a command, and returns its answer. An answer that says that the command failed is a
  /// value, too.
  package func send(_ command: [UInt8]) async throws(RedisError) -> RESPValue {
    try await withCheckedContinuation { continuation in
      send(command) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Sends a command, and calls `complete` with its answer on the loop's thread. The answers to
  /// several commands come in the order of the commands.
  package func send(_ command: [UInt8], _ complete: @escaping Completion) {
    if let failure { return complete(.failure(failure)) }
    guard waiting.count < Self.commandLimit else { return complete(.failure(.tooManyCommands)) }
    do throws(TransportError) {
      try stream.write(command)
      waiting.append(Waiting(deadline: loop.now + Self.answerLimit, complete: complete))
      if waiting.count == 1, let deadline = waiting.first?.deadline { timer?.arm(at: deadline) }
    } catch .queueFull {
      complete(.failure(.tooManyCommands))
    } catch {
      fail(.transport(error))
      complete(.failure(.transport(error)))
    }
  }

  /// Closes the connection. Commands without an answer fail.
  package func close() { fail(.transport(.closed)) }

  /// Closes the connection, which is of no more use. Commands without an answer fail with `error`.
  func close(because error: RedisError) { fail(error) }

  private func handle(_ event: borrowing TCPEvent) {
    switch event {
    case .bytes(let bytes): receive(bytes)
    case .writable: endHandshake()
    case .end: lose(.closed)
    case .closed(let error): lose(error ?? .closed)
    }
  }

  /// Fails because the server has ended the connection.
  private func lose(_ error: TransportError) {
    if let failure = stream.tlsFailure { return fail(.tls(failure)) }
    if isOpening { return fail(.tls(.unanswered)) }
    let isSilent = !hasHeard && (error == .closed || error == .connectionReset)
    fail(isSilent ? .noAnswer : .transport(error))
  }

  private func receive(_ bytes: Span<UInt8>) {
    if !hasHeard, Self.isOfWebServer(bytes) { return fail(.webServer) }
    hasHeard = true
    decoder.append(bytes)
    do throws(DecodeError) {
      while failure == nil, let value = try decoder.next() {
        guard let first = waiting.popFirst() else {
          return fail(.malformed(.invalid(what: "answer to no command")))
        }
        first.complete(.success(value))
      }
    } catch {
      return fail(.malformed(error))
    }
    guard failure == nil else { return }
    if let first = waiting.first { timer?.arm(at: first.deadline) } else { timer?.cancel() }
  }

  /// Whether a server begins its answer as one of HTTP does: with the version, or with a page if it
  /// has taken the command for a request of the oldest version.
  private static func isOfWebServer(_ bytes: Span<UInt8>) -> Bool {
    bytes[0] == UInt8(ascii: "H") || bytes[0] == UInt8(ascii: "<")
  }

  private func timeOut() { fail(isOpening ? .tls(.unanswered) : .timedOut) }

  private func fail(_ error: RedisError) {
    guard failure == nil else { return }
    failure = error
    timer?.cancel()
    stream.setHandler(nil)
    stream.close()
    while let first = waiting.popFirst() { first.complete(.failure(error)) }
    endHandshake()
    onFailure?(error)
    onFailure = nil
  }
}
