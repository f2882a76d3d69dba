import CaromCore

extension RollbackSession {
  // MARK: Sending

  /// Appends the next message to `writer`, and returns its recipient and kind. Returns nil if
  /// nothing is due before the next tick.
  public mutating func pollTransmit(into writer: inout PacketWriter) -> Transmit? {
    for player in peers.indices where player != configuration.local {
      if writeDisconnect(to: player, &writer) {
        return Transmit(player: player, message: .disconnect)
      }
      guard isPeer(player) else { continue }
      if let message = peers[player].returnDue {
        peers[player].returnDue = nil
        message.encode(into: &writer)
        return Transmit(player: player, message: .reconnect)
      }
      if peers[player].detector.isReportDue {
        writeReport(to: player, &writer)
        return Transmit(player: player, message: .stateReport)
      }
      if peers[player].isInputDue {
        peers[player].isInputDue = false
        // A player who returns needs no input before its return.
        guard peers[player].base <= rollback.buffers[configuration.local].end else { continue }
        writeInputs(to: player, &writer)
        return Transmit(player: player, message: .inputs)
      }
    }
    return nil
  }

  private mutating func writeInputs(to player: Int, _ writer: inout PacketWriter) {
    let own = rollback.buffers[configuration.local]
    let first = max(peers[player].acknowledged, own.oldest)
    let end = min(own.end, peers[player].proposal?.tick ?? own.end)
    let count = min(Int(max(0, first.distance(to: end))), SimulationLimits.ticksInPacket)
    var header = InputHeader(
      first: first, count: count, acknowledged: rollback.buffers[player].end)
    header.timing = timing(for: player, newest: first.advanced(by: Int64(count) - 1))
    header.confirmed = confirmed(for: player, first)
    header.context = own.context(before: first, from: max(peers[player].base, own.start))
    header.encode(into: &writer)
    var bits = BitWriter()
    own.writeRun(
      from: first, count: count, context: header.context, coder: &coder, bits: &bits, into: &writer)
    bits.finish(&writer)
    peers[player].packets += 1
  }

  private func timing(for player: Int, newest: Tick) -> InputHeader.Timing? {
    let peer = peers[player]
    guard peer.packets < 32 || peer.packets % Self.timingInterval == 0 else { return nil }
    let lead = rollback.tick.distance(to: newest)
    return .init(lead: UInt8(min(max(lead, 0), 255)), advantage: peer.sync.sixteenths)
  }

  private mutating func confirmed(for player: Int, _ first: Tick) -> InputHeader.Confirmed? {
    let newest = rollback.hashedThrough
    guard configuration.detectsDesync, peers[player].sentHashTick < newest,
      peers[player].detector.state == .equal, let hash = rollback.hash(at: newest)
    else { return nil }
    peers[player].sentHashTick = newest
    return .init(offset: first.distance(to: newest), hash: UInt32(truncatingIfNeeded: hash))
  }

  private mutating func writeReport(to player: Int, _ writer: inout PacketWriter) {
    guard let tick = peers[player].detector.reported else { return }
    let isAnswering = peers[player].detector.isAnswering
    peers[player].detector.didReport()
    report(of: tick, isAnswer: isAnswering).encode(into: &writer)
  }

  private func report(of tick: Tick, isAnswer: Bool) -> DesyncStateReport {
    var hashes: [UInt32] = []
    var at = tick
    while hashes.count < DesyncStateReport.hashLimit, let hash = rollback.hash(at: at) {
      hashes.append(UInt32(truncatingIfNeeded: hash))
      guard at > configuration.start else { break }
      at = at.advanced(by: -1)
    }
    if hashes.isEmpty { hashes = [0] }
    return DesyncStateReport(
      tick: tick, hashes: hashes, description: describe(tick), isAnswer: isAnswer)
  }

  private func describe(_ tick: Tick) -> SimulationDescription? {
    guard let state = rollback.state(at: tick) else { return nil }
    var description = SimulationDescription()
    state.describe(into: &description)
    return description
  }

  // MARK: Receiving

  /// Processes a message from a player. Throws an error, and changes nothing, if the message is
  /// invalid.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, from player: Int, at now: Instant
  ) throws(DecodeError) {
    precondition(peers.indices.contains(player), "the sender must be a player of this session")
    guard isPeer(player) else { return }
    switch message {
    case .inputs: try receiveInputs(bytes, from: player, at: now)
    case .stateReport: try receiveReport(DesyncStateReport(decoding: bytes), from: player)
    case .disconnect: try receiveDisconnect(bytes, from: player)
    case .reconnect: try receiveReturn(PlayerReturn(decoding: bytes), from: player)
    case .keyframe: throw .invalid(what: "keyframe between peers")
    case .seat: throw .invalid(what: "seat between peers")
    }
    peers[player].lastHeard = now
    adapter.recordArrival()
  }

  private mutating func receiveInputs(
    _ bytes: Span<UInt8>, from player: Int, at now: Instant
  ) throws(DecodeError) {
    var reader = PacketReader(bytes)
    let header = try InputHeader(decoding: &reader)
    let first = header.first(near: rollback.buffers[player].end)
    guard first <= rollback.buffers[player].end else { return }  // after a gap
    // Sent before the player's return, or before this peer's own.
    if first < peers[player].base, peers[player].base > .zero { return }
    let acknowledged = first.advanced(by: header.acknowledged)
    guard acknowledged >= configuration.start,
      acknowledged <= rollback.buffers[configuration.local].end
    else { throw .invalid(what: "acknowledged tick") }
    var bits = BitReader()
    try rollback.buffers[player].readRun(
      from: first, count: header.count, context: header.context, coder: &coder, bits: &bits,
      &reader)
    try bits.finish()
    try reader.finish()
    if let confirmed = header.confirmed { try check(confirmed, first) }
    rollback.addInputs(coder.run, for: player, from: first)
    peers[player].acknowledged = max(peers[player].acknowledged, acknowledged)
    if let timing = header.timing { record(timing, header, first, from: player, at: now) }
    if let confirmed = header.confirmed { record(confirmed, first, from: player) }
  }

  private mutating func record(
    _ timing: InputHeader.Timing, _ header: InputHeader, _ first: Tick, from player: Int,
    at now: Instant
  ) {
    let tick = first.advanced(by: Int64(header.count) - 1 - Int64(timing.lead))
    if let newest = peers[player].newestTick, tick <= newest { return }
    peers[player].newestTick = tick
    peers[player].sync.recordPeerTick(tick, at: rollback.tick, fraction: fraction(at: now))
    peers[player].sync.recordPeerAdvantage(Double(timing.advantage) / 16)
  }

  /// Throws an error if no peer can have confirmed the tick of a received hash, because that tick
  /// is before the match or too far ahead of the local tick.
  private func check(_ confirmed: InputHeader.Confirmed, _ first: Tick) throws(DecodeError) {
    guard configuration.detectsDesync else { return }
    let tick = first.advanced(by: confirmed.offset)
    let distance = rollback.tick.distance(to: tick)
    guard tick >= configuration.start, distance < Int64(DesyncDetector.waitingLimit) else {
      throw .invalid(what: "hash's tick")
    }
  }

  private mutating func record(
    _ confirmed: InputHeader.Confirmed, _ first: Tick, from player: Int
  ) {
    guard configuration.detectsDesync else { return }
    let tick = first.advanced(by: confirmed.offset)
    // The local hash is no longer stored.
    guard rollback.tick.distance(to: tick) > -Int64(Rollback<Game>.history) else { return }
    peers[player].detector.record(confirmed.hash, at: tick, local: rollback.hash(at: tick))
  }

  private mutating func receiveReport(
    _ report: DesyncStateReport, from player: Int
  ) throws(DecodeError) {
    guard configuration.detectsDesync else { return }
    guard let first = firstDifference(report) else {
      // The states are equal: the report is an outdated copy, or its tick is not confirmed here
      // yet.
      return
    }
    let isNamed = peers[player].detector.state == .named
    peers[player].detector.begin(at: first)
    guard report.tick == first else { return }
    peers[player].detector.receive(isAnswer: report.isAnswer)
    guard !isNamed else { return }
    let differences = describe(first).map { report.differences(from: $0) } ?? []
    desyncs.append(DesyncReport(player: player, tick: first, differences: differences))
  }

  /// Returns the first tick in the report whose hash differs from the local hash, or nil if none
  /// differs.
  private func firstDifference(_ report: DesyncStateReport) -> Tick? {
    var first: Tick?
    var tick = report.tick
    for hash in report.hashes {
      guard let own = rollback.hash(at: tick) else {
        guard tick > rollback.hashedThrough, tick > configuration.start else { break }
        tick = tick.advanced(by: -1)
        continue
      }
      if UInt32(truncatingIfNeeded: own) != hash { first = tick }
      guard tick > configuration.start else { break }
      tick = tick.advanced(by: -1)
    }
    return first
  }
}
