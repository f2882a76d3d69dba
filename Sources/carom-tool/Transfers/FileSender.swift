import CaromCore
import CaromNearby
import CaromTransport

/// Sends files to one receiver, one after another, and connects again if the connection is lost.
struct FileSender: Sendable {
  /// How often to connect again without the receiver having stored anything in between.
  private static let attempts = 5
  /// The longest delay before the first of these attempts, in milliseconds. It doubles each time.
  private static let firstDelay = 250

  private let files: [String]
  private let receiver: ReceiverSearch.Receiver
  private let info: PeerInfo
  private let security: SessionSecurity
  private let rows: TransferRows

  init(
    _ files: [String], to receiver: ReceiverSearch.Receiver, as info: PeerInfo,
    security: SessionSecurity, _ rows: TransferRows
  ) {
    self.files = files
    self.receiver = receiver
    self.info = info
    self.security = security
    self.rows = rows
  }

  /// The files that remain to be sent, and the first failure of one.
  private struct Work {
    var rest: ArraySlice<String>
    var failure: CommandFailure?
    /// Whether a connection was established at least once.
    var wasConnected = false
    /// The most bytes of the first remaining file that the receiver is known to have stored.
    var stored: UInt64 = 0
  }

  /// Sends all files. Returns the failure of the first file that the receiver did not get although
  /// it was reached, and throws if it was not.
  func run() async throws -> CommandFailure? {
    var work = Work(rest: files[...])
    var attempt = 0
    while !work.rest.isEmpty {
      let (count, stored) = (work.rest.count, work.stored)
      do {
        try await connect(&work)
      } catch  where work.wasConnected && !Task.isCancelled {
        let hasAdvanced = work.rest.count < count || work.stored > stored
        attempt = hasAdvanced ? 1 : attempt + 1
        guard attempt <= Self.attempts else { throw error }
        let longest = Self.firstDelay << (attempt - 1)
        try await Task.sleep(for: .milliseconds(Int.random(in: longest / 2...longest)))
      }
    }
    return work.failure
  }

  private func connect(_ work: inout Work) async throws {
    let endpoints = try await receiver.endpoints()
    let loop = try NetworkLoop(name: "carom-sender")
    do {
      // Files need no datagrams, and the system's streams carry more for the same work.
      try await Session.join(
        endpoints, as: info, over: .stream, security: security, loop: loop
      ) { session, host in
        work.wasConnected = true
        try await session.withFiles { files in
          while let path = work.rest.first {
            try await send(path, files, host, &work)
            work.rest.removeFirst()
            work.stored = 0
          }
        }
      }
    } catch {
      await loop.shutdown()
      guard case SessionError.refused(.securityMismatch) = error else { throw error }
      throw CommandFailure(
        .usage,
        security.policy == .code
          ? "\(receiver.name) shows no code: omit --code"
          : "\(receiver.name) shows a code: pass it with --code")
    }
    await loop.shutdown()
  }

  private func send(
    _ path: String, _ files: SessionFiles, _ host: Peer, _ work: inout Work
  ) async throws {
    do throws(TransferFailure) {
      guard let transfer = try await files.send(path, to: [host]).first else { return }
      defer { work.stored = max(work.stored, transfer.currentProgress.stored) }
      _ = try await rows.follow(transfer, .sent)
    } catch {
      let failure = CommandFailure(error, of: path)
      if error == .disconnected || Task.isCancelled { throw failure }
      work.failure = work.failure ?? failure
    }
  }
}
