/// Encodes snapshots in their canonical form: with Golomb-Rice codes if those take fewer bytes than
/// the range coder and at most `RiceWriter.byteLimit`, otherwise with the range coder.
struct SnapshotEncoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var models: [RangeModel]
  private var range = RangeEncoder()
  private var rice = RiceWriter()
  /// Whether the last snapshot used the Golomb-Rice form.
  private(set) var usedRice = false
  /// Statistics for training the models, or nil if none are collected.
  var training: SnapshotTraining?

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    models = shipped
  }

  /// Reserves memory for one datagram.
  mutating func reserve() { range.reserve() }

  /// The bytes of the last encoded snapshot.
  var bytes: [UInt8] { usedRice ? rice.bytes : range.bytes }

  /// Encodes a snapshot, and sets `view` to the view that the receiver has after decoding it.
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

  /// Writes a snapshot with one of the coders. This function is static, because a method would copy
  /// the coder that it mutates.
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
  /// Returns a lower bound, in bits, on the length of the script when encoded with Golomb-Rice
  /// codes.
  func fewestBits(_ script: SnapshotScript) -> Int {
    // Each entity takes a bit, and each value at least one.
    script.included.count + script.values.count
  }
}
