/// Converts closures that are isolated to an actor on a loop into plain closures.
///
/// The loop's thread runs both the callbacks and the actor, so a callback may access the actor
/// directly. The compiler cannot verify this, and a runtime check on each call would cost more than
/// the call itself, so the executor is checked once, in `init`. The actor is held weakly.
package struct ActorCallbacks<Owner: Actor> {
  private weak var owner: Owner?

  /// Creates a converter for closures that are isolated to `owner`. Traps unless the executor of
  /// `owner` is `loop`.
  package init(_ owner: Owner, on loop: NetworkLoop) {
    let executor = unsafe owner.unownedExecutor.asSerialExecutor()
    precondition(
      executor === loop, "the owner's unownedExecutor must be the loop of the socket or timer")
    self.owner = owner
  }

  package func bind(_ body: @escaping (isolated Owner) -> Void) -> () -> Void {
    let plain = unsafe unsafeBitCast(body, to: ((Owner) -> Void).self)
    return { [weak owner] in
      if let owner { plain(owner) }
    }
  }

  package func bind<Value>(_ body: @escaping (isolated Owner, Value) -> Void) -> (Value) -> Void {
    let plain = unsafe unsafeBitCast(body, to: ((Owner, Value) -> Void).self)
    return { [weak owner] value in
      if let owner { plain(owner, value) }
    }
  }

  /// Works like `bind`, but for a closure whose argument is borrowed and valid only during the
  /// call.
  package func bindBorrowing<Value: ~Copyable & ~Escapable>(
    _ body: @escaping (isolated Owner, borrowing Value) -> Void
  ) -> (borrowing Value) -> Void {
    typealias Plain = (Owner, borrowing Value) -> Void
    let plain = unsafe unsafeBitCast(body, to: Plain.self)
    return { [weak owner] value in
      if let owner { plain(owner, value) }
    }
  }

  /// Works like `bindBorrowing` for the events of a stream, without the thunks of a generic
  /// function's closures, which pass the arguments of each call through memory.
  func bind(_ body: @escaping (isolated Owner, borrowing TCPEvent) -> Void) -> TCPEventHandler {
    let body = IsolatedTCPEventHandler(call: body)
    let plain = unsafe unsafeBitCast(body, to: PlainTCPEventHandler<Owner>.self)
    return TCPEventHandler { [weak owner] event in
      if let owner { plain.call(owner, event) }
    }
  }
}

// Unlike a closure, a structure that holds one is passed to `unsafeBitCast` as it is.
private struct IsolatedTCPEventHandler<Owner: Actor> {
  let call: (isolated Owner, borrowing TCPEvent) -> Void
}

private struct PlainTCPEventHandler<Owner: Actor> {
  let call: (Owner, borrowing TCPEvent) -> Void
}
