#if arch(wasm32)
  import CaromCore
  import CaromProtocol

  // The functions of every game that the page calls. Times are in milliseconds on the page's clock,
  // which must not go backwards; lengths are in bytes.

  /// The one engine of this program, once the game has set it. A page calls from one thread.
  package nonisolated(unsafe) var engine = PageEngine()

  // MARK: The buffer

  /// Returns the address of the shared buffer.
  @_expose(wasm, "bufferAddress") @_cdecl("carom_buffer_address")
  public func bufferAddress() -> Int32 { Int32(truncatingIfNeeded: SharedBuffer.address) }

  /// Returns the length of the shared buffer.
  @_expose(wasm, "bufferLength") @_cdecl("carom_buffer_length")
  public func bufferLength() -> Int32 { Int32(SharedBuffer.length) }

  // MARK: The link

  /// Begins a link that the page has opened. Returns 0 if the engine has no use for it.
  @_expose(wasm, "openLink") @_cdecl("carom_open_link")
  public func openLink(_ now: Double) -> Int32 {
    engine.openLink(Instant(milliseconds: now)) ? 1 : 0
  }

  /// Receives `count` bytes in the buffer from the link.
  @_expose(wasm, "receive") @_cdecl("carom_receive")
  public func receive(_ count: Int32, _ now: Double) {
    engine.receive(SharedBuffer.read(count), Instant(milliseconds: now))
  }

  /// Handles the end of the link: 0 if it was closed in an orderly way, 1 if it broke or could not
  /// be opened.
  @_expose(wasm, "closeLink") @_cdecl("carom_close_link")
  public func closeLink(_ isBroken: Int32, _ now: Double) {
    engine.closeLink(isBroken == 0 ? .ended : .reset, Instant(milliseconds: now))
  }

  /// Says goodbye to the host: that the session is finished, or with 0 only that the page leaves,
  /// to which its player may come back.
  @_expose(wasm, "leave") @_cdecl("carom_leave")
  public func leave(_ isFinished: Int32, _ now: Double) {
    engine.leave(Goodbye(isFinished == 0 ? .left : .finished), Instant(milliseconds: now))
  }

  /// Writes the next bytes for the link to the buffer, and returns their number; 0 if there are
  /// none. `queued` is the number of bytes that the link has not sent yet.
  @_expose(wasm, "transmit") @_cdecl("carom_transmit")
  public func transmit(_ queued: Int32, _ now: Double) -> Int32 {
    let now = Instant(milliseconds: now)
    return SharedBuffer.write(engine.takeOutput(SharedBuffer.length, Int(queued), now))
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

  // MARK: Datagrams

  /// Begins to use a datagram link that the page has opened beside the other link. Returns 0 if the
  /// engine has no use for it.
  @_expose(wasm, "openDatagrams") @_cdecl("carom_open_datagrams")
  public func openDatagrams(_ now: Double) -> Int32 {
    engine.openDatagrams(Instant(milliseconds: now)) ? 1 : 0
  }

  /// Receives a datagram of `count` bytes in the buffer.
  @_expose(wasm, "receiveDatagram") @_cdecl("carom_receive_datagram")
  public func receiveDatagram(_ count: Int32, _ now: Double) {
    engine.receiveDatagram(SharedBuffer.read(count), Instant(milliseconds: now))
  }

  /// Writes the next datagram to send to the buffer, and returns its length; 0 if there is none.
  @_expose(wasm, "transmitDatagram") @_cdecl("carom_transmit_datagram")
  public func transmitDatagram(_ now: Double) -> Int32 {
    SharedBuffer.write(engine.takeDatagram(Instant(milliseconds: now)))
  }

  /// Handles the end of the datagram link. What was lost with it is sent on the other link.
  @_expose(wasm, "closeDatagrams") @_cdecl("carom_close_datagrams")
  public func closeDatagrams(_ now: Double) {
    engine.closeDatagrams(Instant(milliseconds: now))
  }

  /// Returns which link carries messages now: 0 none, 1 that of `openLink`, 2 that of
  /// `openDatagrams`.
  @_expose(wasm, "messageLink") @_cdecl("carom_message_link")
  public func messageLink() -> Int32 {
    switch engine.messageLink() {
    case nil: 0
    case .stream, .webSocket: 1
    default: 2
    }
  }

  // MARK: Time

  /// Returns the time at which `step` has to be called at the latest; infinite for none.
  @_expose(wasm, "nextTimeout") @_cdecl("carom_next_timeout")
  public func nextTimeout() -> Double {
    engine.nextTimeout().map { Double($0.nanoseconds) / 1_000_000 } ?? .infinity
  }

  // MARK: Playing

  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  @_expose(wasm, "step") @_cdecl("carom_step")
  public func step(_ now: Double) -> Int32 {
    Int32(engine.step(Instant(milliseconds: now)))
  }

  /// Writes the events that wait to the buffer, four bytes each, and returns their length.
  @_expose(wasm, "events") @_cdecl("carom_events")
  public func events() -> Int32 {
    var list: [UInt8] = []
    while let (code, first, second) = engine.pollEvent() {
      list += [code, first, second, 0]
    }
    return SharedBuffer.write(list)
  }

  /// Writes the host's name to the buffer in UTF-8, and returns its length; 0 while it is unknown.
  @_expose(wasm, "hostName") @_cdecl("carom_host_name")
  public func hostName() -> Int32 { SharedBuffer.write(engine.hostName().utf8Bytes) }

  /// Writes the host's explanation for the end of the connection to the buffer in UTF-8, and
  /// returns its length; 0 if it gave none.
  @_expose(wasm, "endText") @_cdecl("carom_end_text")
  public func endText() -> Int32 { SharedBuffer.write(engine.endText().utf8Bytes) }

  /// Returns the number of ticks after which the state is certain.
  @_expose(wasm, "confirmedTick") @_cdecl("carom_confirmed_tick")
  public func confirmedTick() -> UInt64 { engine.confirmed()?.tick ?? 0 }

  /// Returns the hash of the state after the last certain tick.
  @_expose(wasm, "confirmedHash") @_cdecl("carom_confirmed_hash")
  public func confirmedHash() -> UInt64 { engine.confirmed()?.hash ?? 0 }
#endif
