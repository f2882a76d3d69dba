import CaromCore
import CaromTransport

/// One request over HTTP and its response, on a connection of its own.
actor HTTPExchange: LoopActor {
  /// The maximum length in bytes of the content of a response.
  static let contentLimit = 64 << 10

  /// Why there is no response, and whether the request may have arrived.
  struct Failure: Error, Hashable {
    let error: AgonesError
    let wasSent: Bool
  }

  typealias Result = Swift.Result<HTTPResponseDecoder.Response, Failure>

  nonisolated let loop: NetworkLoop
  private var decoder = HTTPResponseDecoder(contentLimit: contentLimit)
  private var stream: TCPStream?
  private var timer: LoopTimer?
  private var result: Result?
  private var continuation: CheckedContinuation<Result, Never>?

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Sends `request` to the first of `endpoints` that accepts a connection, and returns the
  /// response if it is complete after `limit` at most. The connection is closed in any case.
  func perform(
    _ request: [UInt8], to endpoints: [Endpoint], within limit: Duration
  ) async -> Result {
    let deadline = loop.now + limit
    do throws(TransportError) {
      let stream = try await TCPStream.connect(to: endpoints, on: loop, deadline: limit)
      self.stream = stream
      timer = LoopTimer(on: loop, owner: self) { $0.fail(.transport(.timedOut)) }
      timer?.arm(at: deadline)
      stream.setHandler(owner: self) { exchange, event in exchange.handle(event) }
      try stream.write(request)
    } catch {
      let failure = Failure(error: .transport(error), wasSent: stream != nil)
      finish(.failure(failure))
      return .failure(failure)
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let result {
          continuation.resume(returning: result)
        } else {
          self.continuation = continuation
        }
      }
    } onCancel: {
      Task { await self.fail(.transport(.cancelled)) }
    }
  }

  private func handle(_ event: borrowing TCPEvent) {
    do throws(HTTPResponseDecoder.Failure) {
      switch event {
      case .bytes(let bytes):
        if let response = try decoder.append(bytes) { finish(.success(response)) }
      case .writable: break
      case .end: finish(.success(try decoder.end()))
      case .closed(let error?): fail(.transport(error))
      case .closed(nil): fail(.incomplete)
      }
    } catch {
      fail(AgonesError(error))
    }
  }

  private func fail(_ error: AgonesError) {
    finish(.failure(Failure(error: error, wasSent: true)))
  }

  private func finish(_ result: Result) {
    guard self.result == nil else { return }
    self.result = result
    timer?.cancel()
    stream?.setHandler(nil)
    // A peer that sends without end would not close its side.
    if case .success = result { stream?.close() } else { stream?.reset() }
    continuation?.resume(returning: result)
    continuation = nil
  }
}
