/// An event-driven solver: it advances a scene by fixed steps, contact by contact, with exact times
/// of impact.
///
/// Contacts are resolved in order of time. Simultaneous contacts are ordered by their lower id,
/// then by their other id, with barriers after discs. Two contacts of one disc that were predicted
/// together for the same instant are solved simultaneously, so that a symmetric scene stays
/// symmetric. A disc with more than `contactLimit` contacts in a step is pinned: it rests until the
/// end of the step, and kinematic discs stop at it instead of passing through.
///
/// The solver reuses its buffers, so a step allocates memory only if it has more contacts than any
/// step before. It has no state between steps: any solver gives the same result for a scene.
public struct SceneSolver: Sendable {
  /// The result of a step.
  public struct Outcome: Hashable, Sendable {
    /// The time by which the scene was advanced, in seconds: the step's length, or less after a
    /// goal.
    public var time: Double
    /// The number of contacts in the step.
    public var contactCount: Int
    /// The number of discs that were pinned in the step.
    public var pinnedCount: Int
    /// Whether a goal ended the step early.
    public var endedByGoal: Bool
  }

  /// The maximum number of contacts that a disc may have in a step. Further contacts pin the disc.
  public var contactLimit: Int
  /// Whether the solver records contacts in `contacts`.
  public var recordsContacts: Bool
  /// The contacts of the last step, in order.
  public internal(set) var contacts: [Contact] = []

  /// The minimum number of discs for which the solver uses a grid to find pairs.
  var gridThreshold = 24
  var bodies: [Body] = []
  /// For each slot, the body's straight trajectory: its position extrapolated back to clock 0 and
  /// its velocity. The search for pairs reads this compact array instead of `bodies`, if
  /// `isStraight` is true.
  var trajectories: [Motion] = []
  /// Whether every body had a constant velocity in the step's clock when the step began.
  var isStraight = true
  /// For each slot, the position at which the body was assigned to its cell.
  var startPositions: [Vector] = []
  var slotOfID: [Int32] = []
  var fastSlots: [Int32] = []
  var queue = ContactQueue()
  var grid = Grid()
  var usesGrid = false
  var largestRadius = 0.0
  /// The maximum distance, in meters, that any body except a fast one moves from its start position
  /// in this step.
  var ordinaryReach = 0.0
  var batch: Int32 = 0
  var law = MotionLaw(damping: Damping(), step: 1)
  var table = Table(halfLength: 1, halfWidth: 1)
  var surface = Surface()
  var now = 0.0
  var outcome = Outcome(time: 0, contactCount: 0, pinnedCount: 0, endedByGoal: false)
  /// A scratch buffer for `popPartner(of:)`.
  var tiedContacts: [PendingContact] = []

  /// Creates a solver, which can advance any number of scenes.
  public init(contactLimit: Int = 64, recordsContacts: Bool = true) {
    precondition(contactLimit > 0, "contactLimit must be positive")
    self.contactLimit = contactLimit
    self.recordsContacts = recordsContacts
  }

  /// Advances `scene` by `step` seconds, or to the first goal, and returns what happened.
  @discardableResult
  public mutating func advance(_ scene: inout Scene, by step: Double) -> Outcome {
    precondition(step > 0, "a step must be longer than 0 s")
    begin(scene, step)
    load(scene)
    predictContacts()
    while !outcome.endedByGoal, let contact = popContact() {
      now = contact.clock
      outcome.endedByGoal = resolve(contact, &scene)
    }
    store(&scene, at: outcome.endedByGoal ? now : law.horizon)
    outcome.time = outcome.endedByGoal ? law.time(at: now) : step
    return outcome
  }

  private mutating func begin(_ scene: Scene, _ step: Double) {
    law = MotionLaw(damping: scene.surface.damping, step: step)
    table = scene.table
    surface = scene.surface
    now = 0
    batch = 0
    contacts.removeAll(keepingCapacity: true)
    queue.removeAll()
    outcome = Outcome(time: 0, contactCount: 0, pinnedCount: 0, endedByGoal: false)
  }

  /// Removes and returns the next contact that is not stale, or nil if there is none.
  private mutating func popContact() -> PendingContact? {
    while let contact = queue.pop() {
      if isFresh(contact) { return contact }
    }
    return nil
  }

  /// Returns whether no disc of the contact has been deflected since the contact was predicted.
  func isFresh(_ contact: PendingContact) -> Bool {
    let count = Int32(bodies.count)
    guard bodies[slot(contact.a)].stamp == contact.stampA else { return false }
    return contact.b >= count || bodies[slot(contact.b)].stamp == contact.stampB
  }

  @inline(__always)
  func slot(_ id: Int32) -> Int { usesGrid ? Int(slotOfID[Int(id)]) : Int(id) }
}
