/// Makes plain closures of those that run inside an actor on the loop.
///
/// The loop's thread runs both the callbacks and the actor, so a callback is inside the actor
/// already; the compiler cannot see that, and a check on each call would cost more than the call.
package struct ActorCallbacks<Owner: Actor> {
  private weak var owner: Owner?

  /// The one check: `owner` has the loop for its executor.
  package init(_ owner: Owner, on loop: NetworkLoop) {
    let executor = unsafe owner.unownedExecutor.asSerialExecutor()
    precondition(
      executor === loop, "the owner's unownedExecutor has to be the loop that the socket is on")
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

  /// For what lies elsewhere and is there during the call only.
  package func bindBorrowing<Value: ~Copyable & ~Escapable>(
    _ body: @escaping (isolated Owner, borrowing Value) -> Void
  ) -> (borrowing Value) -> Void {
    typealias Plain = (Owner, borrowing Value) -> Void
    let plain = unsafe unsafeBitCast(body, to: Plain.self)
    return { [weak owner] value in
      if let owner { plain(owner, value) }
    }
  }

  package func bind(
    _ body: @escaping (isolated Owner, borrowing UDPBatch) -> Void
  ) -> (borrowing UDPBatch) -> Void {
    typealias Plain = (Owner, borrowing UDPBatch) -> Void
    let plain = unsafe unsafeBitCast(body, to: Plain.self)
    return { [weak owner] batch in
      if let owner { plain(owner, batch) }
    }
  }

  package func bind(
    _ body: @escaping (isolated Owner, borrowing TCPEvent) -> Void
  ) -> (borrowing TCPEvent) -> Void {
    typealias Plain = (Owner, borrowing TCPEvent) -> Void
    let plain = unsafe unsafeBitCast(body, to: Plain.self)
    return { [weak owner] event in
      if let owner { plain(owner, event) }
    }
  }
}
