import CaromGroup
import CaromNearby
import CaromTransport
import Foundation

/// The progress of one resource, as Foundation's type: in bytes, of which an empty file has one.
final class ResourceProgress: Sendable {
  let progress: Progress

  /// Creates the progress of a file. `cancel` is called if the application cancels it.
  init(size: UInt64, cancel: @escaping @Sendable () -> Void) {
    progress = Progress(totalUnitCount: max(1, Int64(clamping: size)))
    progress.cancellationHandler = cancel
  }

  /// Follows a transfer to its end. Returns its failure, or nil if it is complete. If the task is
  /// cancelled, the transfer is.
  func follow(_ transfer: FileTransfer) async -> TransferFailure? {
    await withTaskCancellationHandler {
      progress.totalUnitCount = max(1, Int64(clamping: transfer.size))
      for await step in transfer.progress where step.size > 0 {
        progress.completedUnitCount = Int64(clamping: step.stored)
      }
      do throws(TransferFailure) {
        try await transfer.waitUntilComplete()
        progress.completedUnitCount = progress.totalUnitCount
        return nil
      } catch { return error }
    } onCancel: {
      transfer.cancel()
    }
  }
}

/// A task that can be cancelled before it is known.
final class CancellableTask: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())

  var task: Task<Void, Never>? {
    get { state.withLock { $0.task } }
    set {
      let isCancelled = state.withLock { state in
        state.task = newValue
        return state.isCancelled
      }
      if isCancelled { newValue?.cancel() }
    }
  }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}
