#if arch(wasm32)
  import AirHockey
  import CaromCore
  import CaromPhysics
  import WebEngine

  // The functions of air hockey that the page calls, beside those of every game in WebEngine.

  /// The one match of this program. A page calls from one thread.
  private nonisolated(unsafe) let match = AirHockeyEngine()

  // MARK: Matches

  /// Prepares the program. The page calls this first.
  @_expose(wasm, "load") @_cdecl("carom_load")
  public func load() { engine = match.page }

  /// Begins a match without a network. Each seat is a person's (0), or that of an easy (1), medium
  /// (2) or hard (3) computer player.
  @_expose(wasm, "start") @_cdecl("carom_start")
  public func start(_ home: Int32, _ away: Int32, _ seed: UInt64, _ now: Double) {
    match.start(
      home: Strength(rawValue: UInt8(truncatingIfNeeded: home - 1)),
      away: Strength(rawValue: UInt8(truncatingIfNeeded: away - 1)), seed: seed,
      at: Instant(milliseconds: now))
  }

  /// Prepares to join a host at a table, of which 0 is any, as a player (0) or a spectator (1). The
  /// buffer holds the 16 bytes of the player's id and `nameLength` bytes of the name in UTF-8.
  /// Returns 0 if the name is not valid UTF-8.
  @_expose(wasm, "join") @_cdecl("carom_join")
  public func join(
    _ nameLength: Int32, _ table: Int32, _ isSpectator: Int32, _ now: Double
  ) -> Int32 {
    let bytes = SharedBuffer.read(16 + nameLength)
    var reader = PacketReader(bytes.span)
    guard let high: UInt64 = try? reader.readBigEndian(),
      let low: UInt64 = try? reader.readBigEndian(),
      let name = String(utf8Bytes: Array(bytes[16...]))
    else { return 0 }
    match.join(
      as: PeerID(high: high, low: low), name: name, table: UInt16(truncatingIfNeeded: table),
      isSpectator: isSpectator != 0, at: Instant(milliseconds: now))
    return 1
  }

  // MARK: Playing

  /// Sets where the person of a seat (0 home, 1 away) wants the mallet, in meters.
  @_expose(wasm, "setTarget") @_cdecl("carom_set_target")
  public func setTarget(_ seat: Int32, _ x: Double, _ y: Double) {
    match.setTarget(Vector(x, y), of: seat == 0 ? .home : .away)
  }

  /// Makes a request on behalf of a seat: 1 pause, 2 end the pause, 3 the next match.
  @_expose(wasm, "request") @_cdecl("carom_request")
  public func request(_ seat: Int32, _ code: Int32) {
    guard (1...3).contains(code), let request = RinkInput.Request(rawValue: UInt8(code)) else {
      return
    }
    match.add(request, of: seat == 0 ? .home : .away)
  }

  // MARK: State

  /// Writes what the page draws to the buffer, as `EngineState.encode(into:)` does, and returns its
  /// length.
  @_expose(wasm, "state") @_cdecl("carom_state")
  public func state(_ now: Double) -> Int32 {
    var writer = PacketWriter(capacity: EngineState.encodedLength)
    match.state(at: Instant(milliseconds: now)).encode(into: &writer)
    return SharedBuffer.write(writer.bytes)
  }

  /// Writes the name of the player of a seat (0 home, 1 away) to the buffer in UTF-8, and returns
  /// its length; 0 while it is unknown, or without a player.
  @_expose(wasm, "playerName") @_cdecl("carom_player_name")
  public func playerName(_ seat: Int32) -> Int32 {
    SharedBuffer.write(match.playerNames[seat == 0 ? .home : .away].utf8Bytes)
  }
#endif
