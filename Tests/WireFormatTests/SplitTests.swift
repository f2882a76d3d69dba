import CaromCore
import CaromProtocol
import Testing

/// However a recorded session is cut, both sides hear and answer the same.
@Suite struct SplitTests {
  #if DEBUG
    static let ticks = 12
  #else
    static let ticks = 50
  #endif

  let session: RecordedSession

  init() throws { session = try RecordedSession(ticks: Self.ticks) }

  /// What the host makes of the guest's bytes, cut at each of `cuts`. What follows the request
  /// waits for the grant, as on any network, and what acknowledges carriers for these.
  private func host(cuts: [Int]) -> Replay {
    let replay = Replay.host(of: session)
    return feed(replay, session.toHost, cuts: (cuts + [session.requestLength]).sorted())
  }

  private func guest(cuts: [Int]) -> Replay {
    feed(.guest(of: session), session.toGuest, cuts: (cuts + [session.grantLength]).sorted())
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

  /// Of the channels on which the latest wins only the latest of a piece is told.
  private func agree(_ a: Replay, _ b: Replay) -> Bool {
    func messages(_ replay: Replay, _ channel: UInt8) -> [Replay.Message] {
      replay.messages.filter { $0.channel == channel }
    }
    return a.endings == b.endings && a.action == b.action
      && [1, 2].allSatisfy { messages(a, $0) == messages(b, $0) }
      && messages(a, 0).last == messages(b, 0).last
  }

  @Test func `the recorded match is whole: one ending a side, inputs, a keyframe and words`() {
    let host = host(cuts: Array(0...session.toHost.count))
    let guest = guest(cuts: Array(0...session.toGuest.count))
    #expect(host.endings == 0)
    #expect(guest.endings == 1 && guest.endsQuietly)
    #expect(guest.action == .closeAfterFlush)
    func count(_ replay: Replay, _ channel: UInt8) -> Int {
      replay.messages.count { $0.channel == channel }
    }
    #expect(count(host, 0) == Self.ticks)
    #expect(count(host, 2) == 1)
    #expect(count(guest, 0) == Self.ticks)
    #expect(count(guest, 1) == 1)
    #expect(count(guest, 2) == 1)
  }

  @Test func `two pieces, cut anywhere, give a host the same as one`() {
    let whole = host(cuts: [])
    for cut in 0...session.toHost.count where !agree(host(cuts: [cut]), whole) {
      Issue.record("cut at \(cut)")
    }
  }

  @Test func `two pieces, cut anywhere, give a guest the same as one`() {
    let whole = guest(cuts: [])
    for cut in 0...session.toGuest.count where !agree(guest(cuts: [cut]), whole) {
      Issue.record("cut at \(cut)")
    }
  }

  @Test func `byte after byte gives both sides the same as one piece`() {
    #expect(agree(host(cuts: Array(0...session.toHost.count)), host(cuts: [])))
    #expect(agree(guest(cuts: Array(0...session.toGuest.count)), guest(cuts: [])))
  }
}
