/// Moves a scene through fixed steps, contact by contact, with exact times of impact.
///
/// Contacts are taken earliest first; ties go to the lower and then the higher id, where rails
/// follow the discs. Two contacts of one disc that were foreseen together for the same instant are
/// solved together, so that a symmetrical scene stays symmetrical. A disc with more contacts in a
/// step than `contactLimit` is pinned: it rests for the rest of the step, and kinematic discs stop
/// at it instead of pressing through.
///
/// The solver keeps memory between steps, so that a step allocates nothing once it has met its
/// busiest; it keeps no state, so any solver moves any scene alike.
public struct SceneSolver: Sendable {
  /// What a step did.
  public struct Outcome: Hashable, Sendable {
    /// Seconds from the step's beginning to where the scene stands now.
    public var time: Double
    /// Contacts that were carried out.
    public var contactCount: Int
    /// Discs that were pinned.
    public var pinnedCount: Int
    /// Whether a goal ended the step early.
    public var endedByGoal: Bool
  }

  /// The contacts of one disc in one step before it is pinned.
  public var contactLimit: Int
  /// Whether `contacts` is filled.
  public var recordsContacts: Bool
  /// The last step's contacts in their order.
  public internal(set) var contacts: [Contact] = []

  /// From this many discs on, a grid finds the pairs.
  var gridThreshold = 24
  var bodies: [Body] = []
  /// Each body's straight way through the step's clock, from where that puts it at clock 0: what
  /// the search for pairs reads, four numbers a body. Unused where a body does not move straight.
  var ways: [Motion] = []
  var isStraight = true
  /// Where each body was when it got its cell.
  var starts: [Vector] = []
  var slotOfID: [Int32] = []
  var fastSlots: [Int32] = []
  var queue = ContactQueue()
  var grid = Grid()
  var usesGrid = false
  var largestRadius = 0.0
  /// No body but the fast ones gets farther from its cell in this step.
  var ordinaryReach = 0.0
  var batch: Int32 = 0
  var law = MotionLaw(glide: Glide(), step: 1)
  var table = Table(halfLength: 1, halfWidth: 1)
  var surface = Surface()
  var now = 0.0
  var outcome = Outcome(time: 0, contactCount: 0, pinnedCount: 0, endedByGoal: false)
  /// Contacts at one instant that are looked through for a partner.
  var tied: [PendingContact] = []

  /// A solver.
  public init(contactLimit: Int = 64, recordsContacts: Bool = true) {
    precondition(contactLimit > 0, "a disc may have contacts")
    self.contactLimit = contactLimit
    self.recordsContacts = recordsContacts
  }

  /// Moves `scene` by `step` seconds, or up to the first goal.
  @discardableResult
  public mutating func advance(_ scene: inout Scene, by step: Double) -> Outcome {
    precondition(step > 0, "a step takes time")
    begin(scene, step)
    load(scene)
    foresee()
    while !outcome.endedByGoal, let contact = nextContact() {
      now = contact.clock
      outcome.endedByGoal = carryOut(contact, &scene)
    }
    store(&scene, at: outcome.endedByGoal ? now : law.horizon)
    outcome.time = outcome.endedByGoal ? law.time(at: now) : step
    return outcome
  }

  private mutating func begin(_ scene: Scene, _ step: Double) {
    law = MotionLaw(glide: scene.surface.glide, step: step)
    table = scene.table
    surface = scene.surface
    now = 0
    batch = 0
    contacts.removeAll(keepingCapacity: true)
    queue.removeAll()
    outcome = Outcome(time: 0, contactCount: 0, pinnedCount: 0, endedByGoal: false)
  }

  /// The next contact that no deflection has made stale.
  private mutating func nextContact() -> PendingContact? {
    while let contact = queue.pop() {
      if isFresh(contact) { return contact }
    }
    return nil
  }

  func isFresh(_ contact: PendingContact) -> Bool {
    let count = Int32(bodies.count)
    guard bodies[slot(contact.a)].stamp == contact.stampA else { return false }
    return contact.b >= count || bodies[slot(contact.b)].stamp == contact.stampB
  }

  @inline(__always)
  func slot(_ id: Int32) -> Int { usesGrid ? Int(slotOfID[Int(id)]) : Int(id) }
}
