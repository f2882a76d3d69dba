/// Writes snapshots in their one form: by the range coder, or by Golomb-Rice codes where those take
/// fewer bytes and no more than `RiceWriter.byteLimit`.
struct SnapshotEncoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var range: RangeEncoder
  private var rice = RiceWriter()
  /// Whether the last snapshot was written by `rice`.
  private(set) var usedRice = false
  /// Counts along, where it is there.
  var training: SnapshotTraining?

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    range = RangeEncoder(models: shipped)
  }

  /// The last snapshot's bytes.
  var bytes: [UInt8] { usedRice ? rice.bytes : range.bytes }

  /// Writes a snapshot; `view` becomes what who reads it knows then.
  mutating func encode(
    _ header: SnapshotHeader, namedCount: Int64, _ script: inout SnapshotScript,
    from base: SnapshotView, into view: inout SnapshotView
  ) {
    if var counter = training {
      write(header, namedCount, &script, base, &view, by: &counter)
      training = counter
    }
    range.start(shipped)
    write(header, namedCount, &script, base, &view, by: &range)
    range.finish()
    usedRice = false
    guard format.fewestBits(script) <= 8 * RiceWriter.byteLimit else { return }
    rice.start()
    write(header, namedCount, &script, base, &view, by: &rice)
    rice.finish()
    usedRice = rice.fits && rice.bytes.count < range.bytes.count
  }

  private func write<Coder: DeltaCoder>(
    _ header: SnapshotHeader, _ namedCount: Int64, _ script: inout SnapshotScript,
    _ base: SnapshotView, _ view: inout SnapshotView, by coder: inout Coder
  ) {
    var header = header
    header.codeTick(&coder, newest: nil)
    header.codeNamed(&coder, count: namedCount)
    format.code(&coder, &script, from: base, into: &view, isReading: false)
  }
}

extension SnapshotFormat {
  /// No Golomb-Rice code of the script is shorter.
  func fewestBits(_ script: SnapshotScript) -> Int {
    // Each member has a bit, and each value at least one.
    script.included.count + script.values.count
  }
}
