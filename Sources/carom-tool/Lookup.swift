import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// Looks up records once, on the link or at name servers.
struct Lookup: Sendable {
  typealias Reply = LinkQuery.Reply

  /// How long to wait for answers to the other questions after one question has been answered.
  private static let patience = LinkQuery.patience

  private let options: ToolOptions
  private let limit: Duration

  /// Creates a lookup that takes at most `limit`.
  init(_ options: ToolOptions, _ limit: Duration) {
    self.options = options
    self.limit = limit
  }

  /// Queries the hosts on the link for `keys`, and passes their replies to `handle`. Ends when
  /// every question has been answered or denied, when `patience` has passed since the first answer,
  /// or at the limit. With `collectsAll`, answers do not end the query, since other hosts may have
  /// more. Throws if there is no answer.
  ///
  /// The questions for `others` are asked too, but their answers neither end the query nor count as
  /// its answer. If `isRepeated` is true, the questions are repeated even after a host has
  /// answered.
  func askLink(
    _ keys: [RecordKey], and others: [RecordKey] = [], collectsAll: Bool = false,
    isRepeated: Bool = false, _ handle: @escaping @Sendable (Reply) -> Void
  ) async throws {
    let outcome = LookupOutcome(keys, collectsAll: collectsAll)
    let (answered, answeredSource) = AsyncStream.makeStream(of: Void.self)
    let (settled, settledSource) = AsyncStream.makeStream(of: Void.self)
    try await withLoop { loop in
      let query = LinkQuery(keys + others, isRepeated: isRepeated, on: loop) { reply in
        handle(reply)
        outcome.record(reply)
        if outcome.isAnswered, !collectsAll { answeredSource.finish() }
        if outcome.isFinal { settledSource.finish() }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [options] in try await query.run(with: options) }
        group.addTask { [limit] in try await loop.sleep(until: loop.now + limit) }
        group.addTask { for await _ in settled {} }
        group.addTask {
          for await _ in answered {}
          try await loop.sleep(until: loop.now + Self.patience)
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
    if let failure = outcome.failure { throw failure }
  }

  /// Queries the name servers, and passes their replies to `handle`. Throws if there is no answer.
  func askServers(
    _ keys: [RecordKey], _ handle: @escaping @Sendable (Reply) -> Void
  ) async throws {
    let servers = UnicastConfiguration.current.servers
    let results = try await withLoop { loop in
      let client = UnicastClient(on: loop)
      return await withTaskGroup(of: Result<UnicastAnswer, UnicastError>.self) { group in
        for key in keys {
          group.addTask { [limit] in
            do throws(UnicastError) {
              return .success(
                try await client.ask(key.name, key.type, of: servers, within: limit))
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    let answers = results.compactMap { try? $0.get() }
    // One answer is enough, also if a server fails to answer the other question.
    if answers.isEmpty { _ = try results.first?.get() }
    for answer in answers { handle(Reply(answer)) }
    if answers.allSatisfy(\.records.isEmpty) { throw CommandFailure.noSuchRecord(keys) }
  }

  /// Runs `body` with a new loop, then shuts the loop down.
  private func withLoop<Value: Sendable>(
    _ body: (NetworkLoop) async throws -> Value
  ) async throws -> Value {
    let loop = try NetworkLoop(name: "carom-query")
    let result: Result<Value, any Error>
    do { result = .success(try await body(loop)) } catch { result = .failure(error) }
    await loop.shutdown()
    return try result.get()
  }
}

extension LinkQuery.Reply {
  /// Creates a reply from the answer of a name server. The reply has no source and no interface.
  fileprivate init(_ answer: UnicastAnswer) {
    self.init(
      answers: answer.records, others: answer.additionals, denied: [], source: nil, interface: nil)
  }
}

/// Collects the outcome of a query on the link.
private final class LookupOutcome: Sendable {
  private struct State {
    var answered: Set<RecordKey> = []
    var denied: Set<RecordKey> = []
  }

  private let keys: [RecordKey]
  private let collectsAll: Bool
  private let state = Locked(State())

  init(_ keys: [RecordKey], collectsAll: Bool) {
    self.keys = keys
    self.collectsAll = collectsAll
  }

  func record(_ reply: LinkQuery.Reply) {
    state.withLock { state in
      for key in keys where reply.answers.contains(where: Question(key.name, key.type).isAnswered) {
        state.answered.insert(key)
      }
      state.denied.formUnion(reply.denied)
    }
  }

  /// Whether there is an answer.
  var isAnswered: Bool { state.withLock { !$0.answered.isEmpty } }

  /// Whether no further response can change the outcome: every question has been denied or, without
  /// `collectsAll`, answered.
  var isFinal: Bool {
    state.withLock { state in
      keys.allSatisfy { key in
        state.answered.contains(key) ? !collectsAll : state.denied.contains(key)
      }
    }
  }

  /// The reason why there is no answer, or nil if there is an answer.
  var failure: CommandFailure? {
    state.withLock { state in
      if !state.answered.isEmpty { return nil }
      return state.denied.isEmpty ? CommandFailure.silence : CommandFailure.noSuchRecord(keys)
    }
  }
}

extension CommandFailure {
  static let silence = CommandFailure(
    .timedOut, "no host answered in time: check the name, or raise --timeout")

  /// Returns the failure of a query that was answered with the statement that no such record
  /// exists.
  static func noSuchRecord(_ keys: [RecordKey]) -> CommandFailure {
    let types = keys.map { RecordText.name(of: $0.type) }.joined(separator: " or ")
    let name = keys.first.map { "\($0.name)" } ?? ""
    return CommandFailure(.unavailable, "no such record: \(name) has no record of type \(types)")
  }
}
