/// Writes snapshots in their one form: by the range coder, or by Golomb-Rice codes where those take
/// fewer bytes and no more than `RiceWriter.byteLimit`.
struct SnapshotEncoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var models: [RangeModel]
  private var range = RangeEncoder()
  private var rice = RiceWriter()
  /// Whether the last snapshot was written by `rice`.
  private(set) var usedRice = false
  /// Counts along, where it is there.
  var training: SnapshotTraining?

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    models = shipped
  }

  /// Makes room for a datagram.
  mutating func reserve() { range.reserve() }

  /// The last snapshot's bytes.
  var bytes: [UInt8] { usedRice ? rice.bytes : range.bytes }

  /// Writes a snapshot; `view` becomes what who reads it knows then.
  mutating func encode(
    _ header: SnapshotHeader, _ script: inout SnapshotScript, from base: SnapshotView,
    into view: inout SnapshotView
  ) {
    var fresh: [RangeModel] = []
    swap(&fresh, &models)
    fresh.replace(with: shipped)
    encode(header, &script, base, &view, fresh.mutableSpan)
    swap(&fresh, &models)
  }

  private mutating func encode(
    _ header: SnapshotHeader, _ script: inout SnapshotScript, _ base: SnapshotView,
    _ view: inout SnapshotView, _ models: consuming MutableSpan<RangeModel>
  ) {
    if var counter = training {
      Self.write(header, &script, base, &view, by: &counter, &models, format)
      training = counter
    }
    range.start()
    Self.write(header, &script, base, &view, by: &range, &models, format)
    range.finish()
    usedRice = false
    guard format.fewestBits(script) <= 8 * RiceWriter.byteLimit else { return }
    rice.start()
    Self.write(header, &script, base, &view, by: &rice, &models, format)
    rice.finish()
    usedRice = rice.fits && rice.bytes.count < range.bytes.count
  }

  /// Not a method: what it writes with would be copied.
  private static func write<Coder: DeltaCoder>(
    _ header: SnapshotHeader, _ script: inout SnapshotScript, _ base: SnapshotView,
    _ view: inout SnapshotView, by coder: inout Coder,
    _ models: inout MutableSpan<RangeModel>, _ format: SnapshotFormat
  ) {
    var header = header
    _ = header.codeBase(&coder, &models, newest: nil)
    header.codeRest(&coder, &models, base: base)
    format.code(&coder, &models, &script, from: base, into: &view, isReading: false)
  }
}

extension SnapshotFormat {
  /// No Golomb-Rice code of the script is shorter.
  func fewestBits(_ script: SnapshotScript) -> Int {
    // Each member has a bit, and each value at least one.
    script.included.count + script.values.count
  }
}
