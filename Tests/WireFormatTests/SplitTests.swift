import CaromCore
import CaromProtocol
import Testing

/// Feeds a recorded session to both sides in chunks; the result must not depend on the chunks.
@Suite struct SplitTests {
  #if DEBUG
    static let ticks = 12
  #else
    static let ticks = 50
  #endif

  let session: RecordedSession

  init() throws { session = try RecordedSession(ticks: Self.ticks) }

  /// A host that has received the client's bytes, split at each of `cuts`. There is always a split
  /// after the request, because the bytes after it can arrive only once the host has sent its grant
  /// and the carriers that they acknowledge.
  private func host(cuts: [Int]) -> Replay {
    let replay = Replay.host(of: session)
    return feed(replay, session.toHost, cuts: (cuts + [session.requestLength]).sorted())
  }

  private func client(cuts: [Int]) -> Replay {
    feed(.client(of: session), session.toClient, cuts: (cuts + [session.grantLength]).sorted())
  }

  private func feed(_ replay: Replay, _ stream: [UInt8], cuts: [Int]) -> Replay {
    var replay = replay
    var start = 0
    for cut in cuts + [stream.count] {
      replay.receive(stream.span.extracting(start..<cut), at: session.now)
      start = cut
    }
    return replay
  }

  /// Whether two sides ended alike with the same messages. On channel 0, which is sequenced, only
  /// the last message of a chunk is delivered; therefore only the last one is compared.
  private func agree(_ a: Replay, _ b: Replay) -> Bool {
    func messages(_ replay: Replay, _ channel: UInt8) -> [Replay.Message] {
      replay.messages.filter { $0.channel == channel }
    }
    return a.endings == b.endings && a.action == b.action
      && [1, 2].allSatisfy { messages(a, $0) == messages(b, $0) }
      && messages(a, 0).last == messages(b, 0).last
  }

  @Test func `the recorded match is complete: an end, all inputs, a seat, a state, both words`() {
    let host = host(cuts: Array(0...session.toHost.count))
    let client = client(cuts: Array(0...session.toClient.count))
    #expect(host.endings == 0)
    #expect(client.endings == 1 && client.endsQuietly)
    #expect(client.action == .closeAfterFlush)
    func count(_ replay: Replay, _ channel: UInt8) -> Int {
      replay.messages.count { $0.channel == channel }
    }
    #expect(count(host, 0) == Self.ticks)
    #expect(count(host, 2) == 1)
    #expect(count(client, 0) == Self.ticks)
    #expect(count(client, 1) == 2)
    #expect(count(client, 2) == 1)
  }

  @Test func `a host gets the same from two chunks as from one`() {
    let whole = host(cuts: [])
    for cut in 0...session.toHost.count where !agree(host(cuts: [cut]), whole) {
      Issue.record("cut at \(cut)")
    }
  }

  @Test func `a client gets the same from two chunks as from one`() {
    let whole = client(cuts: [])
    for cut in 0...session.toClient.count where !agree(client(cuts: [cut]), whole) {
      Issue.record("cut at \(cut)")
    }
  }

  @Test func `both sides get the same from single bytes as from one chunk`() {
    #expect(agree(host(cuts: Array(0...session.toHost.count)), host(cuts: [])))
    #expect(agree(client(cuts: Array(0...session.toClient.count)), client(cuts: [])))
  }
}
