#if arch(wasm32)
  import CaromCore
  import CaromSimulation
  import WebEngine

  // The functions of games of any kind that the page calls, beside those of every game in
  // WebEngine. The game's own module exports `load`, which calls `load(_:)` here.

  /// The one game of this program, once it has been loaded. A page calls from one thread.
  private nonisolated(unsafe) var game = GamePage()

  /// Prepares the program for the engine of its game.
  package func load<Game>(_ engine: GameEngine<Game>) {
    WebEngine.engine = engine.page
    game = engine.gamePage
  }

  // MARK: Matches

  /// Begins a game without a network, from `count` bytes of encoded state in the buffer. Returns 0
  /// if the state is not valid, or if the game does not have this number of players or rate.
  @_expose(wasm, "start") @_cdecl("carom_start")
  public func start(_ count: Int32, _ players: Int32, _ rate: Int32, _ now: Double) -> Int32 {
    let now = Instant(milliseconds: now)
    return game.start(SharedBuffer.read(count), Int(players), Int(rate), now) ? 1 : 0
  }

  /// Prepares to join a host, with the `JoinRequest` of `count` bytes in the buffer. Returns 0 if
  /// it is not valid.
  @_expose(wasm, "join") @_cdecl("carom_join")
  public func join(_ count: Int32, _ now: Double) -> Int32 {
    guard let request = try? JoinRequest(SharedBuffer.read(count).span) else { return 0 }
    game.join(
      request.info, request.inputs, request.control, Instant(milliseconds: now))
    return 1
  }

  // MARK: Playing

  /// Sets the input of a player to `count` little-endian integers of 32 bits in the buffer. Returns
  /// 0 if it is not valid.
  @_expose(wasm, "setInput") @_cdecl("carom_set_input")
  public func setInput(_ count: Int32, _ player: Int32) -> Int32 {
    let count = Int(min(max(0, count), Int32(SimulationLimits.inputFields)))
    let bytes = SharedBuffer.read(Int32(4 * count))
    var reader = PacketReader(bytes.span)
    let fields = (0..<count).map { _ in (try? reader.read(Int32.self)) ?? 0 }
    return game.setInput(fields, Int(player)) ? 1 : 0
  }

  // MARK: State

  /// Writes an encoded state to the buffer: the current one (0), that of the tick before (1), or
  /// the last one that is certain (2). Returns its length; -1 if there is none, -2 if the buffer is
  /// too short for it.
  @_expose(wasm, "state") @_cdecl("carom_state")
  public func state(_ kind: Int32) -> Int32 {
    guard let bytes = game.state(kind) else { return -1 }
    return bytes.count > SharedBuffer.length ? -2 : SharedBuffer.write(bytes)
  }

  /// Writes how the game stands to the buffer, as `GameStatus.encode(into:)` does, and returns its
  /// length.
  @_expose(wasm, "status") @_cdecl("carom_status")
  public func status(_ now: Double) -> Int32 {
    var writer = PacketWriter(capacity: GameStatus.encodedLength)
    game.status(Instant(milliseconds: now)).encode(into: &writer)
    return SharedBuffer.write(writer.bytes)
  }

  /// Writes the oldest event of the game to the buffer, as `GameEvent.encode(into:)` does, and
  /// returns its length; 0 if there is none.
  @_expose(wasm, "gameEvent") @_cdecl("carom_game_event")
  public func gameEvent() -> Int32 {
    guard let event = game.pollEvent() else { return 0 }
    var writer = PacketWriter(capacity: event.encodedLength)
    event.encode(into: &writer)
    return SharedBuffer.write(writer.bytes)
  }
#endif
