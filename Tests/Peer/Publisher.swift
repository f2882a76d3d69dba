import CaromDiscovery
import Foundation

/// Publishes services and executes commands until the input ends.
struct Publisher {
  private let first: AdvertisedService

  init(_ words: [String]) throws {
    var service = AdvertisedService(
      name: words[0], type: try ServiceType(words[1]), port: UInt16(words[2]) ?? 0)
    service.subtypes = words[3...].filter { $0.hasPrefix("_") }
    service.txt = Self.txtRecord(words[3...])
    first = service
  }

  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var commands: [String: AsyncStream<[String]>.Continuation] = [:]
      func add(_ service: AdvertisedService) {
        let (stream, continuation) = AsyncStream<[String]>.makeStream()
        commands[service.name] = continuation
        group.addTask { try await publish(service, stream) }
      }
      add(first)
      for await words in Peer.input() {
        switch words.first {
        case "publish" where words.count == 2:
          var service = first
          service.name = words[1]
          add(service)
        case "withdraw" where words.count == 2: commands[words[1]]?.finish()
        default: commands[first.name]?.yield(words)
        }
      }
      for command in commands.values { command.finish() }
      try await group.waitForAll()
    }
    Peer.emit(["event": "withdrawn"])
  }

  private func publish(_ service: AdvertisedService, _ commands: AsyncStream<[String]>) async throws
  {
    try await ServiceAdvertiser(service, interfaces: Peer.interfaces).run { advertisement in
      Peer.emit(["event": "established", "name": advertisement.name])
      let renames = Task {
        for try await name in advertisement.renames {
          Peer.emit(["event": "renamed", "name": name])
        }
      }
      for await words in commands { try await execute(words, advertisement) }
      renames.cancel()
    }
  }

  private func execute(_ words: [String], _ advertisement: Advertisement) async throws {
    switch words.first {
    case "rename" where words.count == 2: try await advertisement.rename(to: words[1])
    case "subtypes": try await advertisement.update(subtypes: Array(words.dropFirst()))
    default: try await advertisement.update(txt: Self.txtRecord(words[...]))
    }
  }

  private static func txtRecord(_ pairs: ArraySlice<String>) -> TXTRecord {
    var record = TXTRecord()
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { record[String(parts[0])] = String(parts[1]) }
    }
    return record
  }
}
