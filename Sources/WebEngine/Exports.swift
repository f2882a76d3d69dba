#if arch(wasm32)
  import AirHockey
  import CaromCore
  import CaromPhysics
  import CaromProtocol

  // The functions that the page calls. Times are in milliseconds on the page's clock, which must
  // not go backwards; lengths are in bytes. Bytes pass through one buffer in the engine's memory,
  // in both directions; what a call has written there is valid until the next call.

  /// The length of the shared buffer: more than the engine writes to a link at a time.
  private let bufferLength = 1 << 16
  /// The shared buffer. It is never released.
  private nonisolated(unsafe) let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(
    capacity: bufferLength)
  /// The one engine of this program. A page calls from one thread.
  private nonisolated(unsafe) let engine = AirHockeyEngine()

  /// Returns the time on the page's clock; the clock's origin for what is not a time.
  private func instant(_ milliseconds: Double) -> Instant {
    guard milliseconds > 0, milliseconds < 1e12 else { return .zero }
    return Instant(nanoseconds: Int64(milliseconds * 1_000_000))
  }

  /// Returns a copy of the first `count` bytes in the buffer.
  private func read(_ count: Int32) -> [UInt8] {
    let count = min(max(0, Int(count)), bufferLength)
    return (0..<count).map { unsafe buffer[$0] }
  }

  /// Writes bytes to the buffer, as many as it holds, and returns their number.
  private func write(_ bytes: [UInt8]) -> Int32 {
    let count = min(bytes.count, bufferLength)
    for index in 0..<count { unsafe buffer[index] = bytes[index] }
    return Int32(count)
  }

  // MARK: The buffer

  /// Returns the address of the shared buffer.
  @_expose(wasm, "bufferAddress") @_cdecl("carom_buffer_address")
  public func bufferAddress() -> Int32 {
    Int32(truncatingIfNeeded: unsafe Int(bitPattern: buffer.baseAddress))
  }

  /// Returns the length of the shared buffer.
  @_expose(wasm, "bufferLength") @_cdecl("carom_buffer_length")
  public func bufferSize() -> Int32 { Int32(bufferLength) }

  // MARK: Matches

  /// Begins a match without a network. Each seat is a person's (0), or that of an easy (1), medium
  /// (2) or hard (3) computer player.
  @_expose(wasm, "start") @_cdecl("carom_start")
  public func start(_ home: Int32, _ away: Int32, _ seed: UInt64, _ now: Double) {
    engine.start(
      home: Strength(rawValue: UInt8(truncatingIfNeeded: home - 1)),
      away: Strength(rawValue: UInt8(truncatingIfNeeded: away - 1)), seed: seed, at: instant(now))
  }

  /// Prepares to join a host. The buffer holds the 16 bytes of the player's id and `nameLength`
  /// bytes of the name in UTF-8. Returns 0 if the name is not valid UTF-8.
  @_expose(wasm, "join") @_cdecl("carom_join")
  public func join(_ nameLength: Int32, _ now: Double) -> Int32 {
    let bytes = read(16 + nameLength)
    var reader = PacketReader(bytes.span)
    guard let high: UInt64 = try? reader.readBigEndian(),
      let low: UInt64 = try? reader.readBigEndian(),
      let name = String(validating: bytes[16...], as: UTF8.self)
    else { return 0 }
    engine.join(as: PeerID(high: high, low: low), name: name, at: instant(now))
    return 1
  }

  // MARK: The link

  /// Begins a link that the page has opened. Returns 0 if the engine has no use for it.
  @_expose(wasm, "openLink") @_cdecl("carom_open_link")
  public func openLink(_ now: Double) -> Int32 { engine.openLink(at: instant(now)) ? 1 : 0 }

  /// Receives `count` bytes in the buffer from the link.
  @_expose(wasm, "receive") @_cdecl("carom_receive")
  public func receive(_ count: Int32, _ now: Double) {
    engine.receive(read(count).span, at: instant(now))
  }

  /// Handles the end of the link: 0 if it was closed in an orderly way, 1 if it broke or could not
  /// be opened.
  @_expose(wasm, "closeLink") @_cdecl("carom_close_link")
  public func closeLink(_ isBroken: Int32, _ now: Double) {
    engine.closeLink(isBroken == 0 ? .ended : .reset, at: instant(now))
  }

  /// Says goodbye to the host.
  @_expose(wasm, "leave") @_cdecl("carom_leave")
  public func leave(_ now: Double) { engine.leave(at: instant(now)) }

  /// Writes the next bytes for the link to the buffer, and returns their number; 0 if there are
  /// none. `queued` is the number of bytes that the link has not sent yet.
  @_expose(wasm, "transmit") @_cdecl("carom_transmit")
  public func transmit(_ queued: Int32, _ now: Double) -> Int32 {
    write(engine.takeOutput(upTo: bufferLength, queued: Int(queued), at: instant(now)))
  }

  /// Returns what to do with the link: 0 nothing; 1 close it when everything is sent; 2 close it
  /// at once. It then no longer belongs to the engine.
  @_expose(wasm, "linkAction") @_cdecl("carom_link_action")
  public func linkAction() -> Int32 {
    switch engine.takeLinkAction() {
    case nil: 0
    case .closeAfterFlush: 1
    case .cut: 2
    }
  }

  /// Returns the time at which `step` has to be called at the latest; infinite for none.
  @_expose(wasm, "nextTimeout") @_cdecl("carom_next_timeout")
  public func nextTimeout() -> Double {
    engine.nextTimeout.map { Double($0.nanoseconds) / 1_000_000 } ?? .infinity
  }

  // MARK: Playing

  /// Sets where the person of a seat (0 home, 1 away) wants the mallet, in meters.
  @_expose(wasm, "setTarget") @_cdecl("carom_set_target")
  public func setTarget(_ seat: Int32, _ x: Double, _ y: Double) {
    engine.setTarget(Vector(x, y), of: seat == 0 ? .home : .away)
  }

  /// Makes a request on behalf of a seat: 1 pause, 2 end the pause, 3 the next match.
  @_expose(wasm, "request") @_cdecl("carom_request")
  public func request(_ seat: Int32, _ code: Int32) {
    guard (1...3).contains(code), let request = RinkInput.Request(rawValue: UInt8(code)) else {
      return
    }
    engine.add(request, of: seat == 0 ? .home : .away)
  }

  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  @_expose(wasm, "step") @_cdecl("carom_step")
  public func step(_ now: Double) -> Int32 { Int32(engine.step(at: instant(now))) }

  // MARK: State and events

  /// Writes what the page draws to the buffer, as `EngineState.encode(into:)` does, and returns its
  /// length.
  @_expose(wasm, "state") @_cdecl("carom_state")
  public func state(_ now: Double) -> Int32 {
    var writer = PacketWriter(capacity: EngineState.encodedLength)
    engine.state(at: instant(now)).encode(into: &writer)
    return write(writer.bytes)
  }

  /// Writes the events that wait to the buffer, four bytes each, and returns their length.
  @_expose(wasm, "events") @_cdecl("carom_events")
  public func events() -> Int32 {
    var list: [UInt8] = []
    while let event = engine.pollEvent() {
      let (code, first, second) = event.bytes
      list += [code, first, second, 0]
    }
    return write(list)
  }

  /// Writes a text to the buffer in UTF-8, and returns its length: the host's name (0), its
  /// explanation for the end of the connection (1), or the name of home (2) or away (3).
  @_expose(wasm, "text") @_cdecl("carom_text")
  public func text(_ which: Int32) -> Int32 {
    switch which {
    case 0: write(Array(engine.hostName.utf8))
    case 1: write(Array(engine.endText.utf8))
    default: write(Array(engine.playerNames[which == 2 ? .home : .away].utf8))
    }
  }

  /// Returns the number of ticks after which the state is certain.
  @_expose(wasm, "confirmedTick") @_cdecl("carom_confirmed_tick")
  public func confirmedTick() -> UInt64 { engine.confirmed?.tick ?? 0 }

  /// Returns the hash of the state after the last certain tick.
  @_expose(wasm, "confirmedHash") @_cdecl("carom_confirmed_hash")
  public func confirmedHash() -> UInt64 { engine.confirmed?.hash ?? 0 }
#endif
