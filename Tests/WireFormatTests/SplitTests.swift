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
  /// waits for the grant, as on any network.
  private func host(cuts: [Int]) -> Replay {
    let replay = Replay.host(at: session.now)
    return feed(replay, session.toHost, cuts: (cuts + [session.requestLength]).sorted())
  }

  private func guest(cuts: [Int]) -> Replay {
    feed(.guest(at: session.now), session.toGuest, cuts: cuts)
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

  private func agree(_ a: Replay, _ b: Replay) -> Bool {
    a.events == b.events && a.sent == b.sent && a.action == b.action
  }

  @Test func `the recorded match is whole: one ending a side, events and states`() {
    let (host, guest) = (host(cuts: []), guest(cuts: []))
    #expect(host.endings == 0)
    #expect(guest.endings == 1 && guest.endsQuietly)
    #expect(guest.action == .closeAfterFlush)
    func count(_ replay: Replay, _ channel: UInt16) -> Int {
      replay.events.count { if case .message(_, channel, _) = $0 { true } else { false } }
    }
    #expect(count(host, 1) == Self.ticks - 1)
    #expect(count(host, 3) == 3)
    #expect(count(guest, 0) == Self.ticks)
    #expect(count(guest, 2) == 4)
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
