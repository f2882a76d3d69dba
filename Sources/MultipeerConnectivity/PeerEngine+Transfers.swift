import CaromGroup
import CaromNearby
import CaromSession
import Foundation

// Resources and byte streams.
extension PeerEngine {
  /// Keeps what has arrived before this side knew that the member is connected.
  private func keep(_ arrival: Member.EarlyArrival, of member: Member) {
    guard member.early.count < Member.earlyLimit else { return }
    members[member.peerID.id]?.early.append(arrival)
  }

  // MARK: Resources

  /// Handles a file that a member offers: receives it, and tells the delegate.
  func handle(_ offer: IncomingOffer) {
    guard let member = members[offer.peer.id], member.peer == offer.peer else {
      return offer.decline()
    }
    guard member.isConnected else { return keep(.offer(offer), of: member) }
    let number = makeNumber()
    guard let folder = makeResourceFolder(), let file = FileName("resource-\(number)") else {
      return offer.decline()
    }
    let transfer = offer.accept(into: folder.url.path, as: file, existing: .replace)
    let (session, peer) = (member.session, member.peerID)
    let name = ResourceName.name(of: offer.name)
    let progress = ResourceProgress(size: offer.size) { transfer.cancel() }
    session.report {
      $1.session(
        $0, didStartReceivingResourceWithName: name, fromPeer: peer, with: progress.progress)
    }
    Task(executorPreference: loop) {
      let failure = await progress.follow(transfer)
      let url = failure == nil ? folder.url.appendingPathComponent(file.text) : nil
      session.report {
        $1.session(
          $0, didFinishReceivingResourceWithName: name, fromPeer: peer, at: url,
          withError: failure.map { MCError($0) })
        if let url { try? FileManager.default.removeItem(at: url) }
      }
    }
  }

  private func makeResourceFolder() -> ResourceFolder? {
    if let resourceFolder { return resourceFolder }
    do {
      resourceFolder = try ResourceFolder()
    } catch { Diagnostics.report("no folder for resources: \(error)") }
    return resourceFolder
  }

  /// Sends a file to a member. Returns the failure, or nil once the member has stored it.
  func send(
    _ path: String, as name: FileName, to peer: Peer, _ progress: ResourceProgress
  ) async -> TransferFailure? {
    guard let files = running?.files else { return .disconnected }
    do throws(TransferFailure) {
      guard let transfer = try await files.send(path, as: name, to: [peer]).first else {
        return .disconnected
      }
      return await progress.follow(transfer)
    } catch { return error }
  }

  // MARK: Byte streams

  /// Handles a byte stream that a member has opened.
  func handle(_ stream: PeerStream) {
    guard let member = members[stream.peer.id], member.peer == stream.peer else {
      return stream.reset()
    }
    guard member.isConnected else { return keep(.stream(stream), of: member) }
    let input = Transferred(PeerInputStream(reading: stream, on: loop))
    let (peer, name) = (member.peerID, stream.name)
    member.session.report {
      $1.session($0, didReceive: input.value, withName: name, fromPeer: peer)
    }
  }

  /// Opens a byte stream to a member, to which `buffer` is written until it ends.
  func write(_ buffer: StreamBuffer, to peer: Peer, named name: String) {
    guard let streams = running?.streams else { return buffer.fail(StreamFailure.disconnected) }
    Task(executorPreference: loop) {
      do throws(StreamFailure) {
        let stream = try await streams.open(name, to: peer)
        while let bytes = await buffer.waitForBytes() { try await stream.write(bytes) }
        await stream.finish()
      } catch { buffer.fail(error) }
    }
  }
}

// MARK: - What the application calls
extension SessionCore {
  func sendResource(
    at url: URL, named name: String, to peerID: MCPeerID,
    _ completion: (((any Error)?) -> Void)?
  ) -> Progress? {
    let completion = Transferred { (error: (any Error)?) in completion?(error) }
    guard let connection = connection(to: peerID), let engine = handle?.engine else {
      calls.perform { completion.value(MCError(.notConnected)) }
      return nil
    }
    guard url.isFileURL else {
      calls.perform {
        completion.value(MCError(.unsupported, reason: "a resource is a file: \(url)"))
      }
      return nil
    }
    guard let file = ResourceName.fileName(for: name) else {
      calls.perform {
        completion.value(
          MCError(.invalidParameter, reason: "the name of a resource has at most 255 bytes"))
      }
      return nil
    }
    let size = (try? url.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
    let sending = CancellableTask()
    let progress = ResourceProgress(size: UInt64(size)) { sending.cancel() }
    let path = url.path
    sending.task = Task(executorPreference: engine.loop) {
      let failure = await engine.send(path, as: file, to: connection.peer, progress)
      self.calls.perform { completion.value(failure.map { MCError($0) }) }
    }
    return progress.progress
  }

  func startStream(named name: String, to peerID: MCPeerID) throws(MCError) -> OutputStream {
    guard let connection = connection(to: peerID), let engine = handle?.engine else {
      throw MCError(.notConnected)
    }
    guard name.utf8.count <= StreamLimits.nameLength else {
      throw MCError(
        .invalidParameter,
        reason: "the name of a stream has at most \(StreamLimits.nameLength) bytes of UTF-8")
    }
    let buffer = StreamBuffer()
    engine.post { $0.write(buffer, to: connection.peer, named: name) }
    return PeerOutputStream(writing: buffer)
  }
}

extension MCError {
  /// The error of a transfer that has failed.
  init(_ failure: TransferFailure) {
    let code: Code =
      switch failure {
      case .cancelled, .declined: .cancelled
      case .disconnected: .notConnected
      case .invalidName, .unreadable, .changed, .tooLarge: .invalidParameter
      case .busy: .unavailable
      case .exists, .diskFull, .unwritable, .corrupted, .unknown: .unknown
      }
    self.init(code, reason: "\(failure)")
  }
}
