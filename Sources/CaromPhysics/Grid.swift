/// A uniform grid of cells over the table, in row-major order. Bodies are sorted by cell, so that
/// the bodies of adjacent cells in a row are a contiguous range of slots.
struct Grid {
  private(set) var columns = 1
  private(set) var rows = 1
  private var origin = Vector.zero
  private var scale = 1.0
  /// The slot of each cell's first body, with the number of bodies as an additional last element.
  private(set) var starts: [Int32] = []
  private var cells: [Int32] = []

  /// Chooses the size of the cells for `count` discs with radii up to `radius`.
  mutating func layOut(over table: Table, count: Int, radius: Double) {
    let area = 4 * table.halfLength * table.halfWidth
    let size = max(2 * radius, (area / Double(max(1, count))).squareRoot())
    origin = Vector(-table.halfLength, -table.halfWidth)
    scale = 1 / size
    columns = Int(2 * table.halfLength * scale) + 1
    rows = Int(2 * table.halfWidth * scale) + 1
  }

  @inline(__always)
  func column(_ x: Double) -> Int {
    Int(max(0, min((x - origin.x) * scale, Double(columns - 1))))
  }

  @inline(__always)
  func row(_ y: Double) -> Int { Int(max(0, min((y - origin.y) * scale, Double(rows - 1)))) }

  /// Returns the slots of the bodies in the cells from `first` through `last` of a row.
  @inline(__always)
  func slots(row: Int, from first: Int, through last: Int) -> Range<Int> {
    let base = row * columns
    return Int(starts[base + first])..<Int(starts[base + last + 1])
  }

  /// Assigns each disc a slot by a counting sort over cells. The discs of a cell are ordered by id.
  mutating func sort(_ motions: [Motion], into slotOfID: inout [Int32]) {
    let total = columns * rows
    if starts.count != total + 1 { starts = Array(repeating: 0, count: total + 1) }
    for index in starts.indices { starts[index] = 0 }
    if cells.count != motions.count { cells = Array(repeating: 0, count: motions.count) }
    if slotOfID.count != motions.count { slotOfID = Array(repeating: 0, count: motions.count) }
    for id in motions.indices {
      let position = motions[id].position
      let cell = row(position.y) * columns + column(position.x)
      cells[id] = Int32(truncatingIfNeeded: cell)
      starts[cell] += 1
    }
    var sum: Int32 = 0
    for index in 0..<total {
      let count = starts[index]
      starts[index] = sum
      sum += count
    }
    for id in motions.indices {
      let cell = Int(cells[id])
      slotOfID[id] = starts[cell]
      starts[cell] += 1
    }
    // The loop above has advanced each cell's start to the start of the next cell; shift them back.
    for index in stride(from: total, to: 0, by: -1) { starts[index] = starts[index - 1] }
    starts[0] = 0
  }
}
