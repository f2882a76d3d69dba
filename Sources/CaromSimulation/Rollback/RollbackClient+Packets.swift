import CaromCore

extension RollbackClient {
  // MARK: Sending

  /// Appends the next message for the server to `writer`, and returns its kind. Returns nil if
  /// nothing is due before the next tick.
  public mutating func pollTransmit(into writer: inout PacketWriter) -> RollbackMessage? {
    if isRequestDue {
      isRequestDue = false
      unusable = 0
      return .keyframe  // An empty keyframe message requests a keyframe.
    }
    guard let rollback else { return nil }
    if detector.isReportDue, let tick = detector.reported {
      detector.didReport()
      report(of: tick, rollback).encode(into: &writer)
      return .stateReport
    }
    guard isInputDue else { return nil }
    isInputDue = false
    writeInputs(rollback, &writer)
    return .inputs
  }

  private mutating func writeInputs(_ rollback: Rollback<Game>, _ writer: inout PacketWriter) {
    let needed = rollback.buffers[0].end
    guard let own = rollback.localInputs else {
      InputHeader(first: needed, count: 0, acknowledged: needed).encode(into: &writer)
      return
    }
    let first = max(acknowledged, own.oldest)
    let count = min(Int(first.distance(to: own.end)), SimulationLimits.ticksInPacket)
    var header = InputHeader(first: first, count: count, acknowledged: needed)
    // If inputs that the server lacks are no longer stored, they are skipped: the run starts at the
    // oldest stored input, and therefore without context.
    header.context = own.context(before: first)
    header.encode(into: &writer)
    var bits = BitWriter()
    own.writeRun(
      from: first, count: count, context: header.context, coder: &coder, bits: &bits, into: &writer)
    bits.finish(&writer)
  }

  private func report(of tick: Tick, _ rollback: Rollback<Game>) -> DesyncStateReport {
    var hashes: [UInt32] = []
    var at = tick
    while hashes.count < DesyncStateReport.hashLimit, let hash = rollback.hash(at: at) {
      hashes.append(UInt32(truncatingIfNeeded: hash))
      guard at.rawValue > 0 else { break }
      at = at.advanced(by: -1)
    }
    var description = SimulationDescription()
    rollback.state(at: tick)?.describe(into: &description)
    return DesyncStateReport(
      tick: tick, hashes: hashes.isEmpty ? [0] : hashes, description: description,
      isAnswer: detector.isAnswering)
  }

  // MARK: Receiving

  /// Processes a message from the server. Throws an error, and changes nothing, if the message is
  /// invalid.
  public mutating func receive(
    _ message: RollbackMessage, _ bytes: Span<UInt8>, at now: Instant
  ) throws(DecodeError) {
    switch message {
    case .seat: try receiveSeat(RollbackSeat(decoding: bytes), at: now)
    case .keyframe:
      guard isSeated else { throw .invalid(what: "keyframe before the seat") }
      let keyframe = try RollbackKeyframe<Game>(decoding: bytes)
      guard player.map({ $0 < keyframe.players }) ?? true else { throw .invalid(what: "players") }
      // The keyframe is outdated.
      if let rollback, keyframe.tick < rollback.buffers[0].start { return }
      begin(keyframe)
    case .stateReport: receiveReport(try DesyncStateReport(decoding: bytes))
    case .inputs: try receiveInputs(bytes)
    case .disconnect: throw .invalid(what: "disconnect from a server")
    case .reconnect: throw .invalid(what: "return from a server")
    }
  }

  /// Takes the seat that the server has assigned. A repeated message must not change it.
  private mutating func receiveSeat(
    _ seat: RollbackSeat, at now: Instant
  ) throws(DecodeError) {
    guard !isSeated else {
      guard seat == RollbackSeat(player: player, rate: rate) else { throw .invalid(what: "seat") }
      return
    }
    isSeated = true
    player = seat.player
    window = seat.player == nil ? 0 : window
    guard rate != seat.rate else { return }
    rate = seat.rate
    pace = ClockPace(rate: seat.rate, from: now)
  }

  private mutating func receiveInputs(_ bytes: Span<UInt8>) throws(DecodeError) {
    guard let end = rollback?.buffers[0].end, let start = rollback?.buffers[0].start,
      let players = rollback?.playerCount
    else {
      unusable += 1
      return
    }
    var reader = PacketReader(bytes)
    let header = try InputHeader(decoding: &reader)
    let first = header.first(near: end)
    guard first >= start, first <= end else {
      unusable += 1  // Encoded for a different keyframe.
      isRequestDue = isRequestDue || unusable >= unusableLimit
      return
    }
    var bits = BitReader()
    let isLocalRunAsSent = try readRuns(players, first, header, &bits, &reader)
    try bits.finish()
    try reader.finish()
    guard let needed = rollback?.localInputs?.end ?? rollback?.buffers[0].end else { return }
    let next = first.advanced(by: header.acknowledged)
    guard player == nil || next <= needed else { throw .invalid(what: "acknowledged tick") }
    if isLocalRunAsSent { try rollback?.confirmLocalInputs(from: first, header.count) }
    acknowledged = max(acknowledged, next)
    unusable = 0
    adapter.recordArrival()
    store(first, players, localRun: !isLocalRunAsSent)
    if let timing = header.timing { record(timing) }
    if let confirmed = header.confirmed { record(confirmed, first) }
  }

  /// Decodes every player's run into `runs`. Returns true if the server confirmed the local
  /// player's inputs as they were sent, in which case their run is absent.
  private mutating func readRuns(
    _ players: Int, _ first: Tick, _ header: InputHeader, _ bits: inout BitReader,
    _ reader: inout PacketReader
  ) throws(DecodeError) -> Bool {
    var isLocalRunAsSent = false
    for other in 0..<players {
      if other == player, !(try bits.bit(&reader)) {
        isLocalRunAsSent = true
        continue
      }
      try rollback?.buffers[other].readRun(
        from: first, count: header.count, context: header.context, coder: &coder, bits: &bits,
        &reader)
      swap(&runs[other], &coder.run)
    }
    return isLocalRunAsSent
  }

  private mutating func store(_ first: Tick, _ players: Int, localRun: Bool) {
    for other in 0..<players where other != player || localRun {
      if other == player { countOverridden(first) }
      rollback?.addInputs(runs[other], for: other, from: first)
    }
  }

  private mutating func countOverridden(_ first: Tick) {
    guard let player, let known = rollback?.buffers[player].end else { return }
    for (place, input) in runs[player].enumerated() {
      let tick = first.advanced(by: Int64(place))
      guard tick >= known, let own = rollback?.localInputs, tick >= own.oldest, tick < own.end,
        own[tick] != input
      else { continue }
      overriddenInputs += 1
      lead.recordLateInput()
    }
  }

  /// Records the server's timing report. The first report after a keyframe may show that this clock
  /// started too late, because the round trip was unknown or has grown. The missing ticks then
  /// become due immediately; later corrections only change the clock's speed.
  private mutating func record(_ timing: InputHeader.Timing) {
    lead.record(timing)
    guard isUntimed else { return }
    isUntimed = false
    let margin = Int(timing.advantage) / 16
    if margin < 0 { lateTicks = max(0, 1 - margin - extraTicks) }
  }

  private mutating func record(_ confirmed: InputHeader.Confirmed, _ first: Tick) {
    let tick = first.advanced(by: confirmed.offset)
    guard let now = rollback?.tick, let start = rollback?.buffers[0].start, tick >= start,
      now.distance(to: tick).magnitude < UInt64(DesyncDetector.waitingLimit - 32)
    else { return }
    detector.record(confirmed.hash, at: tick, local: rollback?.hash(at: tick))
  }

  private mutating func receiveReport(_ report: DesyncStateReport) {
    guard case .found = detector.state else { return }
    detector.begin(at: report.tick)
    detector.receive(isAnswer: true)
    detector.isReportDue = false
    var differences: [DesyncReport.Difference] = []
    if let state = rollback?.state(at: report.tick) {
      var description = SimulationDescription()
      state.describe(into: &description)
      differences = report.differences(from: description)
    }
    isRequestDue = true
    desyncs.append(DesyncReport(player: nil, tick: report.tick, differences: differences))
  }
}
