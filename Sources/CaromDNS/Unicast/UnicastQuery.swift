import CaromCore

/// Identifies a query or an update sent to name servers.
package struct UnicastQueryID: Hashable, Sendable {
  let number: UInt64
}

/// Identifies a flow: one attempt to query one name server, on a socket or connection of its own.
package struct UnicastFlow: Hashable, Sendable {
  let number: UInt64
}

/// A query to name servers, which tries one server after another until one answers, all have
/// failed, or the deadline passes.
struct UnicastQuery: Sendable {
  /// The time limit for each server in the first round. The limit doubles with each round, up to
  /// `longestTimeout`.
  static let firstTimeout = Duration.seconds(1)
  static let longestTimeout = Duration.seconds(8)
  /// The time limit for an answer over a TCP connection in the first round. The limit doubles with
  /// each round, up to `longestStreamTimeout`, so that slow servers can still answer.
  static let firstStreamTimeout = Duration.seconds(5)
  static let longestStreamTimeout = Duration.seconds(40)
  /// The maximum number of attempts, which bounds the work that misbehaving servers can cause.
  static let attemptLimit = 16

  /// What the servers are asked to do.
  enum Subject: Sendable {
    /// Return the records of the key.
    case records(RecordKey)
    /// Change a zone.
    case update(SignedUpdate)
  }

  /// The result of a query or an update.
  enum Success: Sendable {
    case answer(UnicastAnswer)
    /// The server's time at which it made the update, in seconds since the beginning of 1970.
    case updated(serverTime: UInt64)
  }

  /// The next action that the resolver must perform for the query.
  enum Step: Sendable {
    case ask(Endpoint, overStream: Bool)
    case finish(Result<Success, UnicastError>)
  }

  /// The current attempt: the queried server, and the bytes received from it so far.
  struct Attempt: Sendable {
    var flow: UnicastFlow
    var id: UInt16
    var server: Endpoint
    var isStream: Bool
    var expires: Instant
    var received: [UInt8] = []
    /// The authentication code of the sent request; empty if it is not signed.
    var code: [UInt8] = []
    /// The error in a response that anybody may have sent. It counts only if no signed response
    /// arrives in time.
    var unprovenError: UnicastError?
  }

  let subject: Subject
  let deadline: Instant
  private(set) var attempt: Attempt?
  private var servers: [Endpoint]
  private var position = 0
  private var round = 0
  private var attempts = 0
  private var lastError: UnicastError?

  init(_ subject: Subject, servers: [Endpoint], deadline: Instant) {
    self.subject = subject
    self.servers = servers
    self.deadline = deadline
  }

  var nextTimeout: Instant { attempt?.expires ?? deadline }

  /// Returns the request in wire format: a query with recursion desired (RFC 1035 §4.1.1), or a
  /// signed update.
  mutating func payload(at now: Instant) -> [UInt8] {
    guard let id = attempt?.id else { return [] }
    switch subject {
    case .records(let key):
      var message = Message(id: id, flags: 0x0100)
      message.questions = [Question(key.name, key.type)]
      return message.encoded()
    case .update(let update):
      let request = update.request(id: id, at: now)
      attempt?.code = request.code
      return request.bytes
    }
  }

  /// Whether the request is too long for a datagram.
  private var needsStream: Bool {
    guard case .update(let update) = subject else { return false }
    return update.length > DynamicUpdate.datagramLimit
  }

  /// Returns the step that asks the next server, or the step that finishes the query.
  mutating func next(at now: Instant) -> Step {
    attempt = nil
    guard now < deadline, attempts < Self.attemptLimit, !servers.isEmpty else {
      let error = servers.isEmpty ? lastError ?? .noServers : .timedOut
      return .finish(.failure(error))
    }
    if position >= servers.count {
      position = 0
      round += 1
    }
    defer { position += 1 }
    return .ask(servers[position], overStream: needsStream)
  }

  /// Records an attempt with a server, over TCP if `isStream` is true.
  mutating func begin(
    _ flow: UnicastFlow, id: UInt16, to server: Endpoint, overStream isStream: Bool,
    at now: Instant
  ) {
    attempts += 1
    let (first, longest) =
      isStream
      ? (Self.firstStreamTimeout, Self.longestStreamTimeout)
      : (Self.firstTimeout, Self.longestTimeout)
    let timeout = min(first * (1 << min(round, 8)), longest)
    attempt = Attempt(
      flow: flow, id: id, server: server, isStream: isStream,
      expires: min(now.advanced(by: timeout), deadline))
  }

  /// Checks the time limit of the attempt and the deadline of the query. Returns the next step, or
  /// nil if neither has passed.
  mutating func handleTimeout(at now: Instant) -> Step? {
    guard now >= nextTimeout else { return nil }
    if let error = attempt?.unprovenError { return dropServer(error, at: now) }
    return next(at: now)
  }

  /// Handles a connection that failed or that could not be opened. Returns the next step, or nil if
  /// no attempt is in progress.
  mutating func handleClosed(at now: Instant) -> Step? { dropServer(.unreachable, at: now) }

  /// Handles a received datagram. Returns the next step, or nil if the datagram does not answer the
  /// query and is ignored.
  mutating func handleDatagram(_ payload: [UInt8], at now: Instant) -> Step? {
    guard let attempt, !attempt.isStream,
      let message = Self.message(payload, limit: Message.maximumLength), answers(message)
    else { return nil }
    if message.isTruncated {
      guard attempts < Self.attemptLimit else { return next(at: now) }
      return .ask(attempt.server, overStream: true)
    }
    return conclude(message, payload, at: now)
  }

  /// Handles bytes from the connection: a two-byte length and the message (RFC 7766 §8). Returns
  /// the next step, or nil if the message is not complete yet.
  mutating func handleBytes(_ bytes: [UInt8], at now: Instant) -> Step? {
    guard attempt?.isStream == true else { return nil }
    attempt?.received.append(contentsOf: bytes)
    guard let received = attempt?.received, received.count >= 2 else { return nil }
    let length = Int(received[0]) << 8 | Int(received[1])
    guard received.count >= 2 + length else { return nil }
    let payload = Array(received[2..<2 + length])
    guard let message = Self.message(payload, limit: Message.maximumStreamLength),
      answers(message), !message.isTruncated
    else { return dropServer(.serverFailure, at: now) }
    return conclude(message, payload, at: now)
  }

  /// Decodes a message, or returns nil if it is malformed. Of a truncated message, only the
  /// question is read, because the rest may be incomplete.
  private static func message(_ payload: [UInt8], limit: Int) -> Message? {
    var payload = payload
    if payload.count >= MessageWriter.headerLength, payload[2] & 0x02 != 0 {
      for offset in 6..<MessageWriter.headerLength { payload[offset] = 0 }
    }
    return try? Message(decoding: payload, limit: limit)
  }

  /// Returns whether the message answers this query: it has the same ID and the same question (RFC
  /// 5452 §9.1).
  private func answers(_ message: Message) -> Bool {
    guard let id = attempt?.id else { return false }
    switch subject {
    case .records(let key):
      return message.isResponse && message.flags & 0x7800 == 0 && message.id == id
        && message.questions == [Question(key.name, key.type)]
    case .update(let update): return update.isAnswered(by: message, id: id)
    }
  }

  private mutating func conclude(
    _ message: Message, _ payload: [UInt8], at now: Instant
  ) -> Step? {
    switch subject {
    case .records(let key): conclude(message, key, at: now)
    case .update(let update): conclude(update, message, payload, at: now)
    }
  }

  private mutating func conclude(
    _ message: Message, _ key: RecordKey, at now: Instant
  ) -> Step? {
    switch message.flags & 0x000F {
    case 0:
      guard let answer = UnicastAnswer(to: key, from: message) else {
        return dropServer(.serverFailure, at: now)
      }
      return .finish(.success(.answer(answer)))
    case 3: return .finish(.failure(.nameError))
    case 5: return dropServer(.refused, at: now)
    default: return dropServer(.serverFailure, at: now)
    }
  }

  /// Concludes an attempt to update a zone. A response whose signature cannot be verified concludes
  /// it only if it is an error that came over a connection, which others cannot forge easily; an
  /// error in a datagram counts if no better response arrives in time (RFC 8945 §5.4).
  private mutating func conclude(
    _ update: SignedUpdate, _ message: Message, _ payload: [UInt8], at now: Instant
  ) -> Step? {
    switch update.result(of: message, payload, to: attempt?.code ?? [], at: now) {
    case .finished(.success(let time)): return .finish(.success(.updated(serverTime: time)))
    case .finished(.failure(let error)): return .finish(.failure(error))
    case .tryNext(let error): return dropServer(error, at: now)
    case .unproven(let error?) where attempt?.isStream == true:
      return dropServer(error, at: now)
    case .unproven(let error):
      if let error { attempt?.unprovenError = error }
      return attempt?.isStream == true ? dropServer(.serverFailure, at: now) : nil
    }
  }

  /// Removes the current server from the list and returns the next step, or nil if no attempt is in
  /// progress.
  private mutating func dropServer(_ error: UnicastError, at now: Instant) -> Step? {
    guard let server = attempt?.server else { return nil }
    lastError = error
    if let index = servers.firstIndex(of: server) {
      servers.remove(at: index)
      if index < position { position -= 1 }
    }
    return next(at: now)
  }
}
