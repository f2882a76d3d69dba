/// Converts closures that are isolated to an actor on a loop into plain closures.
///
/// The loop's thread runs both the callbacks and the actor, so a callback may access the actor
/// directly. The compiler cannot verify this, and a runtime check on each call would cost more than
/// the call itself, so the executor is checked once, in `init`. The actor is held weakly.
package struct ActorCallbacks<Owner: Actor> {
  private(set) weak var owner: Owner?

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
}
