/// A grid of square cells that holds the positions of entities, for finding the entities near a
/// point.
///
/// Positions are in steps of the schema's position fields.
struct InterestGrid: Sendable {
  /// The maximum number of cells.
  static let cellLimit = 1 << 16

  private let lowX: Int64
  private let lowY: Int64
  private let size: Int64
  private let columns: Int
  private let rows: Int
  /// The slot of the first entity in each cell, indexed by cell; -1 if the cell is empty.
  private var first: [Int32]
  /// The next slot in the same cell, indexed by slot; -1 after the last.
  private var next: [Int32] = []
  /// The previous slot in the same cell, indexed by slot; -1 before the first.
  private var previous: [Int32] = []
  /// The cell of each entity, indexed by slot; -1 if the slot is empty.
  private var cells: [Int32] = []

  init(x: EntityField, y: EntityField, cellSize: Int64) {
    precondition(cellSize > 0, "the cell size must be positive")
    lowX = x.lowerBound
    lowY = y.lowerBound
    size = cellSize
    columns = Int((x.span + cellSize - 1) / cellSize)
    rows = Int((y.span + cellSize - 1) / cellSize)
    precondition(
      columns <= Self.cellLimit && rows <= Self.cellLimit && columns * rows <= Self.cellLimit,
      "the grid has more than 65,536 cells; use larger cells")
    first = Array(repeating: -1, count: columns * rows)
  }

  /// Moves the entity in a slot to a position, or adds it there if the slot was empty. Returns true
  /// if the entity's cell has changed.
  @discardableResult
  mutating func place(_ slot: Int, x: Int64, y: Int64) -> Bool {
    while cells.count <= slot {
      cells.append(-1)
      next.append(-1)
      previous.append(-1)
    }
    let cell = Int32(row(y) * columns + column(x))
    guard cells[slot] != cell else { return false }
    remove(slot)
    let head = first[Int(cell)]
    next[slot] = head
    previous[slot] = -1
    if head >= 0 { previous[Int(head)] = Int32(slot) }
    first[Int(cell)] = Int32(slot)
    cells[slot] = cell
    return true
  }

  /// Removes the entity in a slot.
  mutating func remove(_ slot: Int) {
    guard cells[slot] >= 0 else { return }
    if previous[slot] >= 0 {
      next[Int(previous[slot])] = next[slot]
    } else {
      first[Int(cells[slot])] = next[slot]
    }
    if next[slot] >= 0 { previous[Int(next[slot])] = previous[slot] }
    cells[slot] = -1
  }

  /// Appends the slots of the entities in all cells that the bounding square of a circle overlaps.
  func gather(x: Int64, y: Int64, radius: Int64, into slots: inout [Int32]) {
    let left = column(x - radius)
    let right = column(x + radius)
    for row in row(y - radius)...row(y + radius) {
      for column in left...right {
        var slot = first[row * columns + column]
        while slot >= 0 {
          slots.append(slot)
          slot = next[Int(slot)]
        }
      }
    }
  }

  private func column(_ x: Int64) -> Int { min(max(Int((x - lowX) / size), 0), columns - 1) }

  private func row(_ y: Int64) -> Int { min(max(Int((y - lowY) / size), 0), rows - 1) }
}
