import CaromCore
import CaromPlacement
import CaromTransport

/// Why a Redis server gave no answer.
package enum RedisError: Error, Hashable, Sendable {
  /// The connection could not be opened, or has broken: open another one.
  case transport(TransportError)
  /// The server sent something that is no answer: check that it is a Redis server.
  case malformed(DecodeError)
  /// The server did not answer in time: open another connection.
  case timedOut
  /// Too many commands wait for their answers: the server is too slow.
  case tooManyCommands
}

/// One connection to a Redis server. Commands are sent at once and answered in their order.
///
/// A connection that has failed stays closed, and every command fails with the same error.
package actor RedisConnection: LoopActor {
  /// The maximum number of commands without an answer.
  package static let commandLimit = 16_384
  /// How long an answer may take. A host's lease ends after that.
  package static let answerLimit = Duration.seconds(3)

  /// A command that has been sent.
  private struct Waiting: Sendable {
    let deadline: Instant
    let continuation: CheckedContinuation<Result<RESPValue, RedisError>, Never>
  }

  package nonisolated let loop: NetworkLoop
  private let stream: TCPStream
  private var decoder = RESPDecoder()
  private var waiting = Deque<Waiting>()
  private var timer: LoopTimer?
  private var failure: RedisError?

  private init(_ stream: TCPStream, on loop: NetworkLoop) {
    self.loop = loop
    self.stream = stream
  }

  /// Connects to the first of `endpoints` that accepts the connection within 3 seconds.
  package static func open(
    to endpoints: [Endpoint], on loop: NetworkLoop
  ) async throws(RedisError) -> RedisConnection {
    let opened = await Task(executorPreference: loop) { () -> Result<RedisConnection, RedisError> in
      do throws(TransportError) {
        let stream = try await TCPStream.connect(
          to: endpoints, on: loop, deadline: answerLimit)
        let connection = RedisConnection(stream, on: loop)
        await connection.start()
        return .success(connection)
      } catch {
        return .failure(.transport(error))
      }
    }.value
    return try opened.get()
  }

  private func start() {
    timer = LoopTimer(on: loop, owner: self) { $0.timeOut() }
    stream.setHandler(owner: self) { connection, event in connection.handle(event) }
  }

  /// Sends a command, and returns its answer. An answer that says that the command failed is a
  /// value, too.
  package func send(_ command: [UInt8]) async throws(RedisError) -> RESPValue {
    let result = await withCheckedContinuation { continuation in
      begin(command, Waiting(deadline: loop.now + Self.answerLimit, continuation: continuation))
    }
    return try result.get()
  }

  /// Closes the connection. Commands without an answer fail.
  package func close() { fail(.transport(.closed)) }

  private func begin(_ command: [UInt8], _ waiting: Waiting) {
    if let failure { return waiting.continuation.resume(returning: .failure(failure)) }
    guard self.waiting.count < Self.commandLimit else {
      return waiting.continuation.resume(returning: .failure(.tooManyCommands))
    }
    do throws(TransportError) {
      try stream.write(command)
      self.waiting.append(waiting)
      if self.waiting.count == 1 { timer?.arm(at: waiting.deadline) }
    } catch .queueFull {
      waiting.continuation.resume(returning: .failure(.tooManyCommands))
    } catch {
      waiting.continuation.resume(returning: .failure(.transport(error)))
      fail(.transport(error))
    }
  }

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
      while let value = try decoder.next() {
        guard let first = waiting.popFirst() else {
          return fail(.malformed(.invalid(what: "answer to no command")))
        }
        first.continuation.resume(returning: .success(value))
      }
    } catch {
      return fail(.malformed(error))
    }
    if let first = waiting.first { timer?.arm(at: first.deadline) } else { timer?.cancel() }
  }

  private func timeOut() { fail(.timedOut) }

  private func fail(_ error: RedisError) {
    guard failure == nil else { return }
    failure = error
    timer?.cancel()
    stream.setHandler(nil)
    stream.close()
    while let first = waiting.popFirst() {
      first.continuation.resume(returning: .failure(error))
    }
  }
}
