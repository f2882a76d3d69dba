import CaromGroup
import CaromSession
import CaromTransport

/// A file that is being sent to a peer, or received from it.
public final class FileTransfer: Sendable {
  private typealias Waiter = CheckedContinuation<Result<FileName, TransferFailure>, Never>

  private struct State: Sendable {
    var progress: FileProgress
    var result: Result<FileName, TransferFailure>?
    var listeners: [AsyncStream<FileProgress>.Continuation] = []
    var waiters: [UInt64: Waiter] = [:]
    var nextWaiter: UInt64 = 0
    /// The tasks that were cancelled before they could wait.
    var cancelledWaiters: Set<UInt64> = []
    /// Ends the transfer on both sides; nil before the transfer has begun.
    var cancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  /// The peer to or from which the file is sent.
  public let peer: Peer
  /// The name under which the file was offered.
  public let name: FileName
  /// The size of the file, in bytes.
  public let size: UInt64
  private let state: Locked<State>

  init(_ offer: FileOffer, with peer: Peer) {
    self.peer = peer
    name = offer.name
    size = offer.size
    state = Locked(State(progress: FileProgress(stored: 0, size: offer.size)))
  }

  /// The progress: the current one, then each change, and at the end of the transfer the end of the
  /// sequence. A slow reader gets only the newest value. Each access returns a sequence of its own.
  public var progress: AsyncStream<FileProgress> {
    let (stream, listener) = AsyncStream.makeStream(
      of: FileProgress.self, bufferingPolicy: .bufferingNewest(1))
    let hasEnded = state.withLock { state in
      listener.yield(state.progress)
      if state.result == nil { state.listeners.append(listener) }
      return state.result != nil
    }
    if hasEnded { listener.finish() }
    return stream
  }

  /// The current progress.
  public var currentProgress: FileProgress { state.withLock { $0.progress } }

  /// Waits until the receiver has stored the whole file and verified its hash. Returns the name of
  /// the file: on the receiver's side the one under which it is stored, on the sender's side the
  /// one under which it was offered. If the task is cancelled, throws `cancelled`, and the transfer
  /// continues.
  @discardableResult
  public func waitUntilComplete() async throws(TransferFailure) -> FileName {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0, number) }
    } onCancel: {
      stopWaiting(number)
    }
    return try result.get()
  }

  private func wait(_ waiter: Waiter, _ number: UInt64) {
    let result: Result<FileName, TransferFailure>? = state.withLock { state in
      if let result = state.result { return result }
      if state.cancelledWaiters.remove(number) != nil { return .failure(.cancelled) }
      state.waiters[number] = waiter
      return nil
    }
    if let result { waiter.resume(returning: result) }
  }

  private func stopWaiting(_ number: UInt64) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if waiter == nil, state.result == nil { state.cancelledWaiters.insert(number) }
      return waiter
    }
    waiter?.resume(returning: .failure(.cancelled))
  }

  /// Ends the transfer on both sides, with the failure `cancelled`. What has been stored is
  /// removed. Can be called at any time and from any thread.
  public func cancel() {
    let cancel = state.withLock { state in
      state.isCancelled = true
      return state.cancel
    }
    cancel?()
  }
}

// MARK: - For the layer that carries out the transfer
extension FileTransfer {
  /// Sets the closure that cancels the transfer. It is called at once if `cancel` was called
  /// before.
  func setCancel(_ cancel: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      state.cancel = cancel
      return state.isCancelled
    }
    if isCancelled { cancel() }
  }

  /// Reports that the receiver has stored the file up to `offset`.
  func update(_ offset: UInt64) {
    state.withLock { state in
      guard state.result == nil, offset > state.progress.stored else { return }
      state.progress = FileProgress(stored: offset, size: size)
      for listener in state.listeners { listener.yield(state.progress) }
    }
  }

  /// The failure with which the transfer has ended, or nil if it has not failed.
  var failure: TransferFailure? {
    guard case .failure(let failure)? = state.withLock({ $0.result }) else { return nil }
    return failure
  }

  /// Ends the transfer. Only the first result counts.
  func end(_ result: Result<FileName, TransferFailure>) {
    if case .success = result { update(size) }
    let (listeners, waiters) = state.withLock { state in
      if state.result == nil { state.result = result }
      defer {
        (state.listeners, state.waiters) = ([], [:])
        state.cancel = nil
      }
      return (state.listeners, state.waiters)
    }
    for listener in listeners { listener.finish() }
    for waiter in waiters.values { waiter.resume(returning: result) }
  }
}
