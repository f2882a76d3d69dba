import CaromGroup
import CaromNearby
import CaromProtocol
import CaromSession
import Foundation
import Testing

@Suite(.timeLimit(.minutes(3))) struct SessionFilesTests {
  private let source: TemporaryFolder
  private let target: TemporaryFolder

  /// The length of a file whose transfer is not complete before its progress is seen, even on a
  /// busy machine.
  private static let lengthOfLongFile = 16 << 20

  init() throws {
    source = try TemporaryFolder()
    target = try TemporaryFolder()
  }

  @Test(arguments: [0, 1, 70_000, 1_000_000])
  func `a file is stored under its name, and both sides see the whole progress`(
    size: Int
  ) async throws {
    let content = randomBytes(size)
    let path = try source.add("photo.jpg", content)
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let offer = try #require(await pair.nextOffer())
      #expect(offer.name.text == "photo.jpg")
      #expect(offer.size == UInt64(size))
      #expect(offer.peer == pair.client)
      let received = offer.accept(into: target.url.path())
      let progress = sent.progress
      async let fractions = progress.reduce(into: [Double]()) { $0.append($1.fraction) }
      #expect(try await received.waitUntilComplete().text == "photo.jpg")
      #expect(try await sent.waitUntilComplete().text == "photo.jpg")
      let seen = await fractions
      #expect(seen == seen.sorted() && seen.last == 1)
      #expect(received.currentProgress.fraction == 1)
    }
    #expect(try target.names == ["photo.jpg"])
    #expect(try target.content(of: "photo.jpg") == content)
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a file arrives over either kind of link`(kinds: LinkKinds) async throws {
    let content = randomBytes(1_000_000)
    let path = try source.add("a", content)
    try await FilePair.run(over: kinds) { pair in
      _ = try await pair.visiting.send(path, to: [pair.host])
      let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
      try await received.waitUntilComplete()
    }
    #expect(try target.content(of: "a") == content)
  }

  @Test func `a host sends to its client too, several files at once`() async throws {
    let contents = (0..<5).map { randomBytes(300_000, seed: $0) }
    let paths = try contents.enumerated().map { try source.add("f\($0)", $1) }
    try await FilePair.run { pair in
      for path in paths { _ = try await pair.hosting.send(path, to: [pair.client]) }
      var offers = pair.visiting.offers.makeAsyncIterator()
      var transfers: [FileTransfer] = []
      for _ in paths {
        transfers.append(try #require(await offers.next()).accept(into: target.url.path()))
      }
      for transfer in transfers { try await transfer.waitUntilComplete() }
    }
    for (number, content) in contents.enumerated() {
      #expect(try target.content(of: "f\(number)") == content)
    }
  }

  @Test func `a declined file is not stored, and neither is one whose offer is released`()
    async throws
  {
    let path = try source.add("a", [1, 2, 3])
    try await FilePair.run { pair in
      for isReleased in [false, true] {
        let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
        var offer = await pair.nextOffer()
        if !isReleased { offer?.decline() }
        offer = nil
        await #expect(throws: TransferFailure.declined) { try await sent.waitUntilComplete() }
      }
    }
    #expect(try target.names.isEmpty)
  }

  @Test func `what cannot be offered is refused before anything is sent`() async throws {
    let folder = source.url.path()
    try await FilePair.run { pair in
      await #expect(throws: TransferFailure.unreadable) {
        _ = try await pair.visiting.send(folder + "/missing", to: [pair.host])
      }
      await #expect(throws: TransferFailure.unreadable) {
        _ = try await pair.visiting.send(folder, to: [pair.host])
      }
      let hidden = try source.add(".hidden", [1])
      await #expect(throws: TransferFailure.invalidName) {
        _ = try await pair.visiting.send(hidden, to: [pair.host])
      }
      let sent = try await pair.visiting.send(
        hidden, as: FileName("visible"), to: [pair.host])
      let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
      try await received.waitUntilComplete()
      try await sent.first?.waitUntilComplete()
    }
    #expect(try target.names == ["visible"])
  }
}

// MARK: - Names that exist
extension SessionFilesTests {
  /// Sends a file named "a" with the given content, and returns the results of both sides.
  private func send(
    _ content: [UInt8], _ existing: ExistingFile
  ) async throws -> [Result<FileName, TransferFailure>] {
    let path = try source.add("a", content)
    var results: [Result<FileName, TransferFailure>] = []
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let received = try #require(await pair.nextOffer())
        .accept(into: target.url.path(), existing: existing)
      for transfer in [sent, received] {
        do throws(TransferFailure) {
          results.append(.success(try await transfer.waitUntilComplete()))
        } catch { results.append(.failure(error)) }
      }
    }
    return results
  }

  @Test func `an existing file stays, and the new one gets a number`() async throws {
    _ = try target.add("a", [9])
    #expect(try await send([1, 2], .keepBoth).last?.get().text == "a (2)")
    #expect(try target.content(of: "a") == [9])
    #expect(try target.content(of: "a (2)") == [1, 2])
    #expect(try target.names.count == 2)
  }

  @Test func `an existing file stays if it must be refused, and both sides learn why`()
    async throws
  {
    _ = try target.add("a", [9])
    #expect(try await send([1, 2], .refuse) == [.failure(.exists), .failure(.exists)])
    #expect(try target.names == ["a"])
    #expect(try target.content(of: "a") == [9])
  }

  @Test func `an existing file is replaced only if that is asked for`() async throws {
    _ = try target.add("a", [9])
    #expect(try await send([1, 2], .replace).last?.get().text == "a")
    #expect(try target.names == ["a"])
    #expect(try target.content(of: "a") == [1, 2])
  }

  @Test func `a file that is there already is not stored a second time`() async throws {
    let content = randomBytes(200_000)
    _ = try target.add("a", content)
    #expect(try await send(content, .keepBoth).last?.get().text == "a")
    #expect(try target.names == ["a"])
  }

  @Test(arguments: [ExistingFile.keepBoth, .replace])
  func `a symbolic link of the file's name is not followed`(existing: ExistingFile) async throws {
    let victim = try source.add("victim", [7])
    try FileManager.default.createSymbolicLink(
      atPath: target.url.path() + "/a", withDestinationPath: victim)
    _ = try await send([1, 2], existing)
    #expect(try source.content(of: "victim") == [7])
    let stored = if case .replace = existing { "a" } else { "a (2)" }
    #expect(try target.content(of: stored) == [1, 2])
  }

  @Test func `a symbolic link in place of the incomplete file is not followed`() async throws {
    let content = randomBytes(4_000_000)
    // The name of the incomplete file is known to a peer that has the content.
    let first = try TemporaryFolder()
    let name = try await interrupt(content, into: first)
    let victim = try source.add("victim", [7])
    try FileManager.default.createSymbolicLink(
      atPath: target.url.path() + "/" + name, withDestinationPath: victim)
    #expect(try await send(content, .keepBoth) == [.failure(.unwritable), .failure(.unwritable)])
    #expect(try source.content(of: "victim") == [7])
  }
}

// MARK: - Interruptions
extension SessionFilesTests {
  /// Interrupts the transfer of a file named "a", and returns the name of the incomplete file.
  @discardableResult
  private func interrupt(_ content: [UInt8], into folder: TemporaryFolder) async throws -> String {
    let path = try source.add("a", content)
    // The first 256 KiB are sent at once, and the others only when the first ones are stored.
    try await FilePair.runBreaking(after: 1_000_000) { pair, relay in
      _ = try await pair.visiting.send(path, to: [pair.host])
      _ = try #require(await pair.nextOffer()).accept(into: folder.url.path())
      await relay.waitForLastBreak()
    }
    return try #require(try folder.incomplete.first { $0.hasSuffix(".part") })
  }

  @Test func `half a file has a hidden name, and is continued where it ended`() async throws {
    let content = randomBytes(4_000_000)
    let part = try await interrupt(content, into: target)
    #expect(try target.names.allSatisfy { $0.hasPrefix(".carom-") })
    let stored = try target.content(of: part).count
    #expect(stored > 0 && stored < content.count)
    let path = try source.add("a", content)
    try await FilePair.run { pair in
      _ = try await pair.visiting.send(path, to: [pair.host])
      let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
      var first: UInt64?
      for await progress in received.progress where progress.stored > 0 && first == nil {
        first = progress.stored
      }
      #expect(first == UInt64(stored))
      try await received.waitUntilComplete()
    }
    #expect(try target.names == ["a"])
    #expect(try target.content(of: "a") == content)
  }

  @Test func `a file is continued while its first connection can still be resumed`() async throws {
    let content = randomBytes(4_000_000)
    let path = try source.add("a", content)
    try await FilePair.runBreaking(after: 1_000_000) { pair, relay in
      _ = try await pair.visiting.send(path, to: [pair.host])
      let interrupted = try #require(await pair.nextOffer()).accept(into: target.url.path())
      await relay.waitForLastBreak()
      let part = try #require(try target.incomplete.first { $0.hasSuffix(".part") })
      let stored = try target.content(of: part).count
      try await Session.join(
        [relay.target], as: FilePair.clientInfo, over: .stream, loop: relay.loop
      ) { joined, host in
        try await joined.withFiles { files in
          _ = try await files.send(path, to: [host])
          let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
          let first = await received.progress.first { $0.stored > 0 }
          #expect(try #require(first).stored >= stored)
          try await received.waitUntilComplete()
        }
      }
      await #expect(throws: TransferFailure.disconnected) {
        try await interrupted.waitUntilComplete()
      }
    }
    #expect(try target.names == ["a"])
    #expect(try target.content(of: "a") == content)
  }

  @Test func `a complete file leaves no incomplete ones of the same content`() async throws {
    let content = randomBytes(4_000_000)
    let part = try await interrupt(content, into: target)
    // A second transfer at the same time, which was never continued, had such a name.
    let second = String(part.dropLast(".part".count)) + "-1.part"
    _ = try target.add(second, [1])
    _ = try target.add(second + ".offer", [])
    _ = try await send(content, .keepBoth)
    #expect(try target.names == ["a"])
  }

  @Test func `a changed file begins again`() async throws {
    try await interrupt(randomBytes(4_000_000), into: target)
    let content = randomBytes(4_000_000, seed: 6)
    _ = try await send(content, .keepBoth)
    #expect(try target.content(of: "a") == content)
  }

  @Test func `a damaged part is noticed and removed, and the next transfer begins again`()
    async throws
  {
    let content = randomBytes(4_000_000)
    let part = try await interrupt(content, into: target)
    var damaged = try target.content(of: part)
    damaged[0] ^= 1
    _ = try target.add(part, damaged)
    #expect(try await send(content, .keepBoth) == [.failure(.corrupted), .failure(.corrupted)])
    #expect(try target.names.isEmpty)
    _ = try await send(content, .keepBoth)
    #expect(try target.content(of: "a") == content)
  }

  @Test(arguments: [true, false])
  func `either side cancels, both learn it, and nothing remains`(isSender: Bool) async throws {
    let path = try source.addZeros("a", count: Self.lengthOfLongFile)
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
      for await progress in received.progress where progress.stored > 0 { break }
      (isSender ? sent : received).cancel()
      for transfer in [sent, received] {
        await #expect(throws: TransferFailure.cancelled) { try await transfer.waitUntilComplete() }
      }
    }
    #expect(try target.names.isEmpty)
  }

  @Test func `the loss of the connection fails both sides`() async throws {
    let path = try source.addZeros("a", count: Self.lengthOfLongFile)
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let received = try #require(await pair.nextOffer()).accept(into: target.url.path())
      for await progress in received.progress where progress.stored > 0 { break }
      await pair.host.close()
      for transfer in [sent, received] {
        await #expect(throws: TransferFailure.disconnected) {
          try await transfer.waitUntilComplete()
        }
      }
    }
  }

  @Test func `a folder that does not exist fails both sides`() async throws {
    let path = try source.add("a", [1])
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let received = try #require(await pair.nextOffer())
        .accept(into: target.url.path() + "/missing")
      for transfer in [sent, received] {
        await #expect(throws: TransferFailure.unwritable) { try await transfer.waitUntilComplete() }
      }
    }
  }

  @Test func `a file that shrinks while it is sent fails both sides`() async throws {
    let path = try source.add("a", randomBytes(1_000_000))
    try await FilePair.run { pair in
      let sent = try #require(try await pair.visiting.send(path, to: [pair.host]).first)
      let offer = try #require(await pair.nextOffer())
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.truncate(atOffset: 500_000)
      let received = offer.accept(into: target.url.path())
      for transfer in [sent, received] {
        await #expect(throws: TransferFailure.changed) { try await transfer.waitUntilComplete() }
      }
    }
    #expect(try target.names.isEmpty)
  }
}
