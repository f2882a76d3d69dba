import CaromCore
import CaromNearby
import CaromTransport

/// Converts file transfers to reports: a table with bars on a terminal, otherwise one line at the
/// end of each transfer, and with `--json` also its progress.
final class TransferRows: Sendable {
  static let headings = ["FILE", "PEER", "SIZE", "PROGRESS", "RATE"]
  /// The number of characters of a whole bar.
  private static let barLength = 20
  /// The minimum interval between two reports of a transfer's progress.
  private static let interval = Duration.milliseconds(200)

  private let output: Output
  private let nextNumber = Locked(0)

  init(_ output: Output) { self.output = output }

  /// Reports the progress of a transfer until it ends, and then its end. Returns the name of the
  /// file.
  func follow(
    _ transfer: FileTransfer, _ end: Report.Event
  ) async throws(TransferFailure) -> FileName {
    let number = nextNumber.withLock { number in
      number += 1
      return number
    }
    let start = NetworkLoop.now
    var (first, last): (UInt64?, Instant?)
    if output.showsProgress {
      let beginning = transfer.currentProgress
      // What an earlier transfer stored does not count for the rate.
      if beginning.stored > 0 { first = beginning.stored }
      emit(.progress, transfer, number, beginning, rate: "")
      for await progress in transfer.progress where last != nil || progress != beginning {
        if first == nil, progress.stored > 0 { first = progress.stored }
        let now = NetworkLoop.now
        if let last, now < last + Self.interval { continue }
        last = now
        let rate = Self.rate(progress.stored - (first ?? 0), now - start)
        emit(.progress, transfer, number, progress, rate: rate)
      }
    }
    do throws(TransferFailure) {
      let name = try await transfer.waitUntilComplete()
      let rate = Self.rate(transfer.size - (first ?? 0), NetworkLoop.now - start)
      emit(end, transfer, number, transfer.currentProgress, rate: rate, name: name)
      return name
    } catch {
      emit(.failed, transfer, number, transfer.currentProgress, rate: "", failure: error)
      throw error
    }
  }

  private func emit(
    _ event: Report.Event, _ transfer: FileTransfer, _ number: Int, _ progress: FileProgress,
    rate: String, name: FileName? = nil, failure: TransferFailure? = nil
  ) {
    var fields: [JSONValue.Field] = [
      .init("transfer", .number(number)), .init("file", .string(transfer.name.text)),
      .init("peer", .string(transfer.peer.name)), .init("size", .number(Int(progress.size))),
      .init("stored", .number(Int(progress.stored))),
    ]
    if let name, event == .received { fields.append(.init("name", .string(name.text))) }
    if let failure { fields.append(.init("reason", .string(failure.description))) }
    let bar = failure?.description ?? Self.bar(progress)
    output.emit(
      Report(
        event, "\(number)",
        cells: [
          name?.text ?? transfer.name.text, transfer.peer.name, Self.size(progress.size), bar, rate,
        ], fields))
  }

  private static func bar(_ progress: FileProgress) -> String {
    let filled = Int(progress.fraction * Double(barLength))
    let percent = Int(progress.fraction * 100)
    let rest = String(repeating: "░", count: barLength - filled)
    return String(repeating: "█", count: filled) + rest + " \(percent) %"
  }

  private static func rate(_ bytes: UInt64, _ time: Duration) -> String {
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
    guard seconds > 0.01 else { return "" }
    return size(UInt64(Double(bytes) / seconds)) + "/s"
  }

  /// Returns a size as people write it, such as "3.2 MB".
  static func size(_ bytes: UInt64) -> String {
    var (value, units) = (Double(bytes), ["B", "kB", "MB", "GB", "TB"][...])
    while value >= 999.5, units.count > 1 {
      value /= 1000
      units = units.dropFirst()
    }
    let tenths = Int((value * 10).rounded())
    let text =
      units.startIndex == 0 || value >= 99.95
      ? "\(Int(value.rounded()))"
      : "\(tenths / 10).\(tenths % 10)"
    return "\(text) \(units.first ?? "")"
  }
}
