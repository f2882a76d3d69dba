import ArgumentParser
import CaromCore
import CaromDNS
import CaromDiscovery
import CaromTransport
import Synchronization

/// What records a name has.
struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Ask for the records of a NAME.",
    discussion: """
      Names of the link (*.local) are asked for by multicast, once, from a port of its own; all \
      others at name servers. A type that a name has several records of (PTR, ANY) is listened \
      for until --timeout.
      """)

  @Argument(help: "A name such as maya.local; '\\' escapes a dot within a label.") var name: String
  @Argument(help: "A record type, such as A, PTR, SRV, TXT, ANY, or a number.") var type: String
  @Flag(help: "Watch the records as they come and go, on the shared port.")
  var continuous = false
  @OptionGroup var servers: ServerOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var answer: AnswerOptions
  @OptionGroup var watch: WatchOptions

  func validate() throws {
    guard continuous || watch.limit == nil else {
      throw ValidationError("--for is an option of --continuous: one question has --timeout.")
    }
  }

  func run() async throws {
    let key = try recordKey()
    try servers.apply()
    let output = Output(RecordRows.headings, json: options.json)
    if continuous {
      try await keepAsking(key, output)
    } else if key.name.isLinkLocal {
      try await askLink(key, output)
    } else {
      try await askServers(key, output)
    }
  }

  private func recordKey() throws -> RecordKey {
    guard let type = RecordText.type(type) else {
      throw CommandFailure(.badName, "'\(type)' is no record type: try A, PTR, SRV, TXT or ANY")
    }
    guard let name = try? Name(text: name) else {
      throw CommandFailure(
        .badName, "'\(name)' is no name: labels have 1 to 63 bytes, names at most 255")
    }
    return RecordKey(name, type)
  }

  private func askLink(_ key: RecordKey, _ output: Output) async throws {
    let (rows, options) = (RecordRows(), options)
    let isShared = [.ptr, .any].contains(key.type)
    let loop = try NetworkLoop(name: "carom-query")
    let (replies, source) = AsyncStream.makeStream(of: OneShotQuery.Reply.self)
    let query = OneShotQuery(Question(key.name, key.type), on: loop) { source.yield($0) }
    let verdict = Verdict()
    let end = try await Ending.run(for: answer.limit, output: output) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await query.run(with: options) }
        group.addTask {
          for await reply in replies {
            for report in rows.reports(reply) { output.tell(report) }
            verdict.note(reply)
            if !isShared, reply.isDenial || !reply.answers.isEmpty { return }
          }
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
    if end != .asked, let failure = verdict.failure { throw failure }
  }

  private func keepAsking(_ key: RecordKey, _ output: Output) async throws {
    let (rows, options, servers) = (RecordRows(), options, servers)
    let query = RecordQuery(key.name.description, key.type, interfaces: options.interfaces)
    try await Ending.run(for: watch.limit, output: output) {
      async let _: Void = servers.tellSilence(of: key)
      for try await change in query.changes {
        let found = change.item
        output.tell(
          rows.report(
            .init(change), found.record, isAnswer: true,
            on: found.interface == 0 ? nil : found.interface))
      }
    }
  }

  private func askServers(_ key: RecordKey, _ output: Output) async throws {
    let servers = UnicastConfiguration.current.servers
    let client = UnicastClient(on: try NetworkLoop(name: "carom-query"))
    let (rows, limit) = (RecordRows(), answer.limit)
    try await Ending.run(output: output) {
      let answer = try await client.ask(key.name, key.type, of: servers, within: limit)
      for record in answer.records { output.tell(rows.report(.added, record, isAnswer: true)) }
      for record in answer.additionals {
        output.tell(rows.report(.added, record, isAnswer: false))
      }
      if answer.records.isEmpty { throw Self.absence }
    }
  }

  fileprivate static let silence = CommandFailure(.timedOut, "nobody answered in time")
  fileprivate static let absence = CommandFailure(.unavailable, "the name has no such record")
}

/// What the replies of the link came to.
private final class Verdict: Sendable {
  private let state = Mutex<CommandFailure?>(QueryCommand.silence)

  /// Why there is no answer; `nil` where there is one.
  var failure: CommandFailure? { state.withLock { $0 } }

  func note(_ reply: OneShotQuery.Reply) {
    state.withLock { failure in
      if !reply.answers.isEmpty {
        failure = nil
      } else if reply.isDenial, failure != nil {
        failure = QueryCommand.absence
      }
    }
  }
}
