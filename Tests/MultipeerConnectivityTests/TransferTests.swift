import Foundation
import MultipeerConnectivity
import MultipeerSamples
import TestEvents
import Testing

/// Resources and byte streams between two sessions.
@Suite(.timeLimit(.minutes(1)), .serialized) struct TransferTests {
  private func withFile<Result>(
    _ data: Data, _ body: (URL) async throws -> Result
  ) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID()).bin")
    try data.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url)
  }

  private func nextResource(
    of session: TestSession
  ) async -> (name: String, data: Data?, error: MCError?)? {
    await session.log.next { event in
      if case .resource(let name, let data, let error) = event { (name, data, error) } else { nil }
    }
  }

  @Test(arguments: [0, 1, 3_000_000])
  func `a resource arrives with its name, and both sides know when it is complete`(
    size: Int
  ) async throws {
    let pair = try await ConnectedPair.make()
    let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try await withFile(data) { url in
      let completion = EventLog<MCError?>()
      let progress = pair.host.session.sendResource(
        at: url, withName: "../pictures/a%b.jpg", toPeer: pair.client.peerID
      ) { completion.add($0 as? MCError) }
      let received = try #require(await nextResource(of: pair.client))
      #expect(received.name == "../pictures/a%b.jpg")
      #expect(received.data == data)
      #expect(received.error == nil)
      let error = await completion.next { Optional.some($0) }
      #expect(error == .some(nil))
      #expect(progress?.isFinished == true)
      #expect(progress?.fractionCompleted == 1)
    }
    let progress = pair.client.log.events.compactMap { event in
      if case .resourceStarted(_, let progress) = event { progress } else { nil }
    }
    #expect(progress.map(\.fractionCompleted) == [1])
  }

  @Test func `a resource that cannot be sent is an error`() async throws {
    let pair = try await ConnectedPair.make()
    func failure(_ url: URL, _ name: String, _ peer: MCPeerID) async -> MCError.Code? {
      let completion = EventLog<MCError?>()
      pair.host.session.sendResource(at: url, withName: name, toPeer: peer) {
        completion.add($0 as? MCError)
      }
      return await completion.next { $0?.code }
    }
    let missing = URL(fileURLWithPath: "/nonexistent/file")
    let peer = pair.client.peerID
    #expect(await failure(missing, "a", peer) == .invalidParameter)
    #expect(await failure(missing, "a", pair.host.peerID) == .notConnected)
    #expect(await failure(URL(string: "ftp://host/file")!, "a", peer) == .unsupported)
    #expect(await failure(missing, String(repeating: "x", count: 256), peer) == .invalidParameter)
  }

  @Test func `cancelling on the receiver's side ends the transfer on both`() async throws {
    let pair = try await ConnectedPair.make()
    try await withFile(Data(count: 200_000_000)) { url in
      let completion = EventLog<MCError?>()
      pair.host.session.sendResource(
        at: url, withName: "large", toPeer: pair.client.peerID
      ) { completion.add($0 as? MCError) }
      let progress = await pair.client.log.next { event in
        if case .resourceStarted(_, let progress) = event { progress } else { nil }
      }
      progress?.cancel()
      #expect(await nextResource(of: pair.client)?.error?.code == .cancelled)
      #expect(await completion.next { $0?.code } == .cancelled)
    }
  }

  @Test func `the end of the session fails a transfer on both sides`() async throws {
    let pair = try await ConnectedPair.make()
    try await withFile(Data(count: 200_000_000)) { url in
      let completion = EventLog<MCError?>()
      pair.host.session.sendResource(
        at: url, withName: "large", toPeer: pair.client.peerID
      ) { completion.add($0 as? MCError) }
      _ = await pair.client.log.next { event in
        if case .resourceStarted = event { true } else { nil }
      }
      pair.host.session.disconnect()
      #expect(await nextResource(of: pair.client)?.error?.code == .notConnected)
      #expect(await completion.next { $0?.code } == .notConnected)
    }
  }

  private func nextStream(of session: TestSession) async -> (InputStream, String)? {
    await session.log.next { event in
      if case .stream(let received, let name) = event { (received.stream, name) } else { nil }
    }
  }

  @Test(arguments: [0, 5, 1_000_000])
  func `a stream with delegates on run loops carries bytes to its end`(size: Int) async throws {
    let pair = try await ConnectedPair.make()
    let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    let output = try pair.client.session.startStream(withName: "voice", toPeer: pair.host.peerID)
    let feeder = StreamFeeder(stream: output, data: data)
    let (input, name) = try #require(await nextStream(of: pair.host))
    #expect(name == "voice")
    let completion = EventLog<Data>()
    let collector = StreamCollector(stream: input) { completion.add($0) }
    #expect(await completion.next { $0 } == data)
    withExtendedLifetime((feeder, collector)) {}
  }

  @Test func `a stream can be read and written without a run loop`() async throws {
    let pair = try await ConnectedPair.make()
    let output = try pair.client.session.startStream(withName: "", toPeer: pair.host.peerID)
    output.open()
    #expect(output.writeOnce([1, 2, 3]) == 3)
    output.close()
    #expect(output.streamStatus == .closed)
    let (input, _) = try #require(await nextStream(of: pair.host))
    #expect(input.readOnce(2) == nil)
    input.open()
    #expect(input.readOnce(2) == [1, 2])
    #expect(input.readOnce(2) == [3])
    #expect(input.readOnce(2) == [])
    #expect(input.streamStatus == .atEnd)
  }

  @Test func `the end of the connection fails a stream`() async throws {
    let pair = try await ConnectedPair.make()
    let output = try pair.client.session.startStream(withName: "a", toPeer: pair.host.peerID)
    output.open()
    let (input, _) = try #require(await nextStream(of: pair.host))
    input.open()
    pair.client.session.disconnect()
    #expect(input.readOnce(1) == nil)
    #expect((input.streamError as? MCError)?.code == .notConnected)
    #expect(input.streamStatus == .error)
  }

  @Test func `a stream to a stranger or with a long name is an error`() async throws {
    let pair = try await ConnectedPair.make()
    #expect(throws: MCError(.notConnected)) {
      try pair.client.session.startStream(withName: "a", toPeer: makePeerID("Nobody"))
    }
    #expect(throws: MCError(.invalidParameter)) {
      try pair.client.session.startStream(
        withName: String(repeating: "x", count: 256), toPeer: pair.host.peerID)
    }
  }
}
