import CaromCore

/// Which question to name servers.
package struct UnicastQueryID: Hashable, Sendable {
  let number: UInt64
}

/// One try to ask one server: a socket or a connection that serves no other.
package struct UnicastFlow: Hashable, Sendable {
  let number: UInt64
}

/// One question to name servers: tries one after the other until there is an answer, all have
/// declined, or time is up.
struct UnicastQuery: Sendable {
  /// How long the first server may take, and in each further round twice as long, up to a limit.
  static let firstPatience = Duration.seconds(1)
  static let longestPatience = Duration.seconds(8)
  /// How long a connection to a server may take with its answer.
  static let streamPatience = Duration.seconds(5)
  /// Tries in all, so that a server that answers in circles is left.
  static let attemptLimit = 16

  /// What is to be done next.
  enum Step: Sendable {
    case ask(Endpoint, overStream: Bool)
    case finish(Result<UnicastAnswer, UnicastError>)
  }

  /// A server that was asked, and what it has said so far.
  struct Attempt: Sendable {
    var flow: UnicastFlow
    var id: UInt16
    var server: Endpoint
    var isStream: Bool
    var expires: Instant
    var received: [UInt8] = []
  }

  let key: RecordKey
  let deadline: Instant
  private(set) var attempt: Attempt?
  private var servers: [Endpoint]
  private var position = 0
  private var round = 0
  private var attempts = 0
  private var refusal: UnicastError?

  init(_ key: RecordKey, servers: [Endpoint], deadline: Instant) {
    self.key = key
    self.servers = servers
    self.deadline = deadline
  }

  var nextTimeout: Instant { attempt?.expires ?? deadline }

  /// The question as it goes out: it wants the server to do all the work (RFC 1035 §4.1.1).
  func message(id: UInt16) -> Message {
    var message = Message(id: id, flags: 0x0100)
    message.questions = [Question(key.name, key.type)]
    return message
  }

  /// The next server, or the end.
  mutating func next(at now: Instant) -> Step {
    attempt = nil
    guard now < deadline, attempts < Self.attemptLimit, !servers.isEmpty else {
      let error = servers.isEmpty ? refusal ?? .noServers : .timedOut
      return .finish(.failure(error))
    }
    if position >= servers.count {
      position = 0
      round += 1
    }
    defer { position += 1 }
    return .ask(servers[position], overStream: false)
  }

  /// A server is asked from now on.
  mutating func begin(
    _ flow: UnicastFlow, id: UInt16, to server: Endpoint, overStream isStream: Bool,
    at now: Instant
  ) {
    attempts += 1
    let patience =
      isStream
      ? Self.streamPatience : min(Self.firstPatience * (1 << min(round, 8)), Self.longestPatience)
    attempt = Attempt(
      flow: flow, id: id, server: server, isStream: isStream,
      expires: min(now.advanced(by: patience), deadline))
  }

  /// Time has passed.
  mutating func handleTimeout(at now: Instant) -> Step? {
    guard now >= nextTimeout else { return nil }
    return next(at: now)
  }

  /// The way to the server broke, or there was none.
  mutating func handleClosed(at now: Instant) -> Step? { strike(.unreachable, at: now) }

  /// A datagram came from somebody.
  mutating func handleDatagram(_ payload: [UInt8], at now: Instant) -> Step? {
    guard let attempt, !attempt.isStream,
      let message = Self.message(payload, limit: Message.maximumLength), answers(message)
    else { return nil }
    if message.isTruncated { return .ask(attempt.server, overStream: true) }
    return conclude(message, at: now)
  }

  /// Bytes came over the connection: a length, and that many bytes (RFC 7766 §8).
  mutating func handleBytes(_ bytes: [UInt8], at now: Instant) -> Step? {
    guard attempt?.isStream == true else { return nil }
    attempt?.received.append(contentsOf: bytes)
    guard let received = attempt?.received, received.count >= 2 else { return nil }
    let length = Int(received[0]) << 8 | Int(received[1])
    guard received.count >= 2 + length else { return nil }
    let payload = Array(received[2..<2 + length])
    guard let message = Self.message(payload, limit: Message.maximumStreamLength),
      answers(message), !message.isTruncated
    else { return strike(.serverFailure, at: now) }
    return conclude(message, at: now)
  }

  /// The message in `payload`. Of one that says that it was cut off only the question is read:
  /// the cut may be anywhere.
  private static func message(_ payload: [UInt8], limit: Int) -> Message? {
    var payload = payload
    if payload.count >= MessageWriter.headerLength, payload[2] & 0x02 != 0 {
      for place in 6..<MessageWriter.headerLength { payload[place] = 0 }
    }
    return try? Message(decoding: payload, limit: limit)
  }

  /// Whether it answers the question that was sent: same id, same question (RFC 5452 §9.1).
  private func answers(_ message: Message) -> Bool {
    message.isResponse && message.flags & 0x7800 == 0 && message.id == attempt?.id
      && message.questions == [Question(key.name, key.type)]
  }

  private mutating func conclude(_ message: Message, at now: Instant) -> Step? {
    switch message.flags & 0x000F {
    case 0:
      guard let answer = UnicastAnswer(to: key, from: message) else {
        return strike(.serverFailure, at: now)
      }
      return .finish(.success(answer))
    case 3: return .finish(.failure(.nameError))
    case 5: return strike(.refused, at: now)
    default: return strike(.serverFailure, at: now)
    }
  }

  /// The server that was asked is asked no more.
  private mutating func strike(_ error: UnicastError, at now: Instant) -> Step? {
    guard let server = attempt?.server else { return nil }
    refusal = error
    if let index = servers.firstIndex(of: server) {
      servers.remove(at: index)
      if index < position { position -= 1 }
    }
    return next(at: now)
  }
}
