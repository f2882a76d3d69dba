/// The handler of a stream's events.
///
/// A closure in a structure is called as it is. A closure that is stored in an optional, or passed
/// to a generic function such as `unsafeBitCast`, is called through thunks that pass its arguments
/// through memory, for each segment that a stream receives.
struct TCPEventHandler {
  let call: (borrowing TCPEvent) -> Void

  init(_ call: @escaping (borrowing TCPEvent) -> Void) { self.call = call }
}

extension ActorCallbacks {
  /// Works like `bindBorrowing` for the events of a stream.
  func bind(_ body: @escaping (isolated Owner, borrowing TCPEvent) -> Void) -> TCPEventHandler {
    let body = IsolatedTCPEventHandler(call: body)
    let plain = unsafe unsafeBitCast(body, to: PlainTCPEventHandler<Owner>.self)
    return TCPEventHandler { [weak owner] event in
      if let owner { plain.call(owner, event) }
    }
  }
}

private struct IsolatedTCPEventHandler<Owner: Actor> {
  let call: (isolated Owner, borrowing TCPEvent) -> Void
}

private struct PlainTCPEventHandler<Owner: Actor> {
  let call: (Owner, borrowing TCPEvent) -> Void
}
