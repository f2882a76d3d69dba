import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport

/// The `query` command: queries the records of a name.
struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Query the records of a NAME.",
    discussion: """
      Names on the link (*.local) are queried by multicast, from an ephemeral port. All other \
      names are queried at name servers. For types with several records per name (PTR, ANY), \
      responses are collected until --timeout.
      """)

  @Argument(help: "A name such as maya.local; '\\' escapes a dot within a label.") var name: String
  @Argument(help: "A record type, such as A, PTR, SRV, TXT or ANY, or its number.") var type: String
  @Flag(help: "Watch the records as they are added and removed.")
  var continuous = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var answer: TimeoutOptions
  @OptionGroup var duration: DurationOptions

  func validate() throws {
    guard continuous || duration.limit == nil else {
      throw ValidationError("--for requires --continuous: a single query has --timeout.")
    }
  }

  func run() async throws {
    let key = try recordKey()
    try servers.apply()
    let output = Output(RecordRows.headings, json: options.json)
    if continuous {
      try await watchRecords(key, output)
    } else if key.name.isLinkLocal {
      try await queryLink(key, output)
    } else {
      try await queryServers(key, output)
    }
  }

  private func recordKey() throws -> RecordKey {
    guard let type = RecordText.type(type) else {
      throw CommandFailure(.badName, "'\(type)' is not a record type: try A, PTR, SRV, TXT or ANY")
    }
    guard let name = try? Name(text: name) else {
      throw CommandFailure(
        .badName, "'\(name)' is not a valid name: labels have 1 to 63 bytes, names at most 255")
    }
    return RecordKey(name, type)
  }

  private func queryLink(_ key: RecordKey, _ output: Output) async throws {
    let (rows, options) = (RecordRows(), options)
    let isShared = [.ptr, .any].contains(key.type)
    let loop = try NetworkLoop(name: "carom-query")
    let (replies, source) = AsyncStream.makeStream(of: OneShotQuery.Reply.self)
    let query = OneShotQuery(Question(key.name, key.type), on: loop) { source.yield($0) }
    let outcome = QueryOutcome()
    let end = try await CommandRunner.run(for: answer.limit, output: output) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await query.run(with: options) }
        group.addTask {
          for await reply in replies {
            for report in rows.reports(reply) { output.emit(report) }
            outcome.record(reply)
            if !isShared, reply.isDenial || !reply.answers.isEmpty { return }
          }
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
    if end != .interrupted, let failure = outcome.failure { throw failure }
  }

  private func watchRecords(_ key: RecordKey, _ output: Output) async throws {
    let (rows, check) = (RecordRows(), ServerCheck(key))
    let query = RecordQuery(key.name.description, key.type, interfaces: options.interfaces)
    let end = try await CommandRunner.run(for: duration.limit, output: output) {
      async let _: Void = check.run()
      for try await change in query.changes {
        let found = change.item
        output.emit(
          rows.report(
            .init(change), found.record, isAnswer: true,
            on: found.interface == 0 ? nil : found.interface))
      }
    }
    if end == .timedOut, let failure = check.failure { throw failure }
  }

  private func queryServers(_ key: RecordKey, _ output: Output) async throws {
    let servers = UnicastConfiguration.current.servers
    let client = UnicastClient(on: try NetworkLoop(name: "carom-query"))
    let (rows, limit) = (RecordRows(), answer.limit)
    try await CommandRunner.run(output: output) {
      let answer = try await client.ask(key.name, key.type, of: servers, within: limit)
      for record in answer.records { output.emit(rows.report(.added, record, isAnswer: true)) }
      for record in answer.additionals {
        output.emit(rows.report(.added, record, isAnswer: false))
      }
      if answer.records.isEmpty { throw Self.absence }
    }
  }

  fileprivate static let silence = CommandFailure(
    .timedOut, "no host answered in time: check the name, or raise --timeout")
  fileprivate static let absence = CommandFailure(
    .unavailable, "the name has no record of that type")
}

/// Collects the outcome of a one-shot query.
private final class QueryOutcome: Sendable {
  private let state = Locked<CommandFailure?>(QueryCommand.silence)

  /// The reason why there is no answer, or nil if there is an answer.
  var failure: CommandFailure? { state.withLock { $0 } }

  func record(_ reply: OneShotQuery.Reply) {
    state.withLock { failure in
      if !reply.answers.isEmpty {
        failure = nil
      } else if reply.isDenial, failure != nil {
        failure = QueryCommand.absence
      }
    }
  }
}
