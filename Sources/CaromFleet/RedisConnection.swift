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
  private var onFailure: (@Sendable (RedisError) -> Void)?

  private init(_ stream: TCPStream, on loop: NetworkLoop) {
    self.loop = loop
    self.stream = stream
  }

  /// Connects to the first of `endpoints` that accepts the connection within 3 seconds.
  package static func open(
    to endpoints: [Endpoint], on loop: NetworkLoop
  ) async throws(RedisError) -> RedisConnection {
    let opening = Task(executorPreference: loop) { () -> Result<RedisConnection, RedisError> in
      do throws(TransportError) {
        let stream = try await TCPStream.connect(
          to: endpoints, on: loop, deadline: answerLimit)
        let connection = RedisConnection(stream, on: loop)
        await connection.start()
        return .success(connection)
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

  private func start() {
    stream.queueLimit = Self.queueLimit
    timer = LoopTimer(on: loop, owner: self) { $0.timeOut() }
    stream.setHandler(owner: self) { connection, event in connection.handle(event) }
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
    case .writable: break
    case .end: fail(.transport(.closed))
    case .closed(let error): fail(.transport(error ?? .closed))
    }
  }

  private func receive(_ bytes: Span<UInt8>) {
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

  private func timeOut() { fail(.timedOut) }

  private func fail(_ error: RedisError) {
    guard failure == nil else { return }
    failure = error
    timer?.cancel()
    stream.setHandler(nil)
    stream.close()
    while let first = waiting.popFirst() { first.complete(.failure(error)) }
    onFailure?(error)
    onFailure = nil
  }
}
