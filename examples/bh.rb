# Barnes-Hut: how bodies move that attract each other. Far ones count as one, by a tree of cells.
#
# One program on all nodes, in steps. The space is divided in 64 regions, or 8 times as many for each level more, and each node has some
# neighbouring ones: it makes the part of the tree below these. The few cells above are made by all. To move its bodies a node goes through
# the whole tree. Cells of others are opened where they are: the node asks for the cells inside, waits for the answer, and keeps it until
# the step is over.
#
# Communication: frequent and synchronous. A node has one thread, which waits for each answer, some hundred times a step; and all wait for
# each other four times a step.
#
# The answer is the same on any number of nodes, to the last bit: what a cell is depends on the bodies in it alone, and all sums are made
# in the order of the tree.
#
#   kumi run --nodes 4 examples/bh.rb [--bodies N] [--steps N] [--levels N] [--seed N]
require_relative "support/program"

ABOUT = "Barnes-Hut: bodies that attract each other, by a tree over all nodes whose cells are opened where they are."
OPTIONS = Program.options(ABOUT, bodies: [3000, "bodies"], steps: [6, "steps"],
                                 levels: [2, "levels of the tree above the regions: 8 ** levels of these"], seed: [1, "another set of bodies", 0])

LEVELS = OPTIONS[:levels]
REGIONS = 8**LEVELS
LEAF = 1         # bodies of a cell that has no cells inside, at most
DEEPEST = 40     # where a cell is not divided any more: bodies in one place
NEAR = 0.7**2    # a cell counts as one body where its width is less than 0.7 times its distance
SOFT = 0.0025    # keeps bodies that meet from being thrown away
TIME = 0.01      # of a step

Body = Data.define(:id, :mass, :x, :y, :z, :vx, :vy, :vz) do
  # A ball of bodies that turns.
  def self.ball(count, random)
    Array.new(count) do |id|
      x, y, z = Array.new(3) { random.rand(-1.0..1.0) } until x && x * x + y * y + z * z < 1
      new(id:, mass: random.rand(0.5..1.5) / count, x:, y:, z:, vx: -0.5 * y, vy: 0.5 * x, vz: 0.0)
    end
  end

  def moved(ax, ay, az)
    vx = self.vx + ax * TIME
    vy = self.vy + ay * TIME
    vz = self.vz + az * TIME
    Body.new(id:, mass:, x: x + vx * TIME, y: y + vy * TIME, z: z + vz * TIME, vx:, vy:, vz:)
  end
end

# A part of space: its middle, and half its width.
Cube = Data.define(:x, :y, :z, :half) do
  # One that has room for all bodies within these bounds: [least, greatest] of all coordinates.
  def self.around(bounds) = new(x: 0.0, y: 0.0, z: 0.0, half: bounds.map(&:abs).max * 1.01)

  # Which eighth of it a body is in.
  def eighth_of(body) = (body.x < x ? 0 : 1) + (body.y < y ? 0 : 2) + (body.z < z ? 0 : 4)

  def eighth(n)
    h = half / 2
    Cube.new(x: n[0] == 0 ? x - h : x + h, y: n[1] == 0 ? y - h : y + h, z: n[2] == 0 ? z - h : z + h, half: h)
  end

  # The regions are eighths of eighths. Their numbers have an octal digit for each level.
  def region_of(body, levels = LEVELS) = eighth_of(body).then { |n| levels == 1 ? n : n * 8**(levels - 1) + eighth(n).region_of(body, levels - 1) }
  def region(number, levels = LEVELS) = levels.zero? ? self : eighth(number / 8**(levels - 1)).region(number % 8**(levels - 1), levels - 1)
end

# A cell of the tree: its bodies' mass and its centre, and the cells inside, or the bodies themselves where they are few.
class Cell
  include Kumihimo::Remote
  remote_methods :open
  attr_reader :width, :mass, :x, :y, :z, :bodies, :cells

  # Of bodies in the order of their ids; nil where there are none. Above the regions all cells are divided.
  def self.of(bodies, cube, depth)
    return if bodies.empty?
    return new(cube, bodies, bodies, nil) if depth >= LEVELS && bodies.size <= LEAF || depth == DEEPEST
    eighths = Array.new(8) { [] }
    bodies.each { |body| eighths[cube.eighth_of(body)] << body }
    divided(cube, eighths.each_with_index.map { |part, n| of(part, cube.eighth(n), depth + 1) })
  end

  # One of cells; nil where there are none.
  def self.divided(cube, cells)
    cells = cells.compact
    new(cube, cells, nil, cells) unless cells.empty?
  end

  # The whole tree, of its regions.
  def self.tree(cube, regions)
    return regions[0] if regions.size == 1
    divided(cube, regions.each_slice(regions.size / 8).with_index.map { |cells, n| tree(cube.eighth(n), cells) })
  end

  def initialize(cube, parts, bodies, cells)
    @width = cube.half * 2
    @mass = parts.sum(0.0, &:mass)
    @x = parts.sum(0.0) { |part| part.mass * part.x } / @mass
    @y = parts.sum(0.0) { |part| part.mass * part.y } / @mass
    @z = parts.sum(0.0) { |part| part.mass * part.z } / @mass
    @bodies = bodies
    @cells = cells
  end

  # What others need to know of the cells inside.
  def open = @cells.map(&:summary)

  # The cell itself comes to other nodes as a reference.
  def summary = [@width, @mass, @x, @y, @z, @bodies, self]
end

# A cell of another node.
class FarCell
  attr_reader :width, :mass, :x, :y, :z, :bodies

  # What a summary tells; a cell of this node is itself.
  def self.of(summary) = Cell === summary.last ? summary.last : new(*summary)

  def initialize(width, mass, x, y, z, bodies, there)
    @width, @mass, @x, @y, @z, @bodies, @there = width, mass, x, y, z, bodies, there
  end

  # The cells inside: asks for them the first time, and waits.
  def cells = @cells ||= @there.open.map { |summary| FarCell.of(summary) }
end

# What all others do to a body.
class Pull
  def initialize(body, tree)
    @body, @x, @y, @z = body, body.x, body.y, body.z
    @ax = @ay = @az = 0.0
    of(tree)
  end

  def moved = @body.moved(@ax, @ay, @az)

  private

  def of(cell)
    return cell.bodies.each { |body| add(body, body.x - @x, body.y - @y, body.z - @z) unless body.id == @body.id } if cell.bodies
    dx = cell.x - @x
    dy = cell.y - @y
    dz = cell.z - @z
    return add(cell, dx, dy, dz) if cell.width * cell.width < NEAR * (dx * dx + dy * dy + dz * dz)
    cell.cells.each { |inside| of(inside) }
  end

  def add(thing, dx, dy, dz)
    square = dx * dx + dy * dy + dz * dz + SOFT
    pull = thing.mass / (square * Math.sqrt(square))
    @ax += pull * dx
    @ay += pull * dy
    @az += pull * dz
  end
end

def bounds(bodies) = bodies.flat_map { |body| [body.x, body.y, body.z] }.minmax.compact

# The sequential program.
def alone
  bodies = Body.ball(OPTIONS[:bodies], Random.new(OPTIONS[:seed]))
  OPTIONS[:steps].times do
    tree = Cell.of(bodies, Cube.around(bounds(bodies)), 0)
    bodies = bodies.map { |body| Pull.new(body, tree).moved }
  end
  bodies
end

# One node's part.
class Node
  include Kumihimo::Remote
  remote_methods :bring
  C = Kumihimo::Cluster

  def initialize
    @lock = Mutex.new
    @brought = []
    Kumihimo::Remote.register("bodies", self)
    @nodes = C.nodes.map { |name| Kumihimo::Remote.find("bodies", on: name) }
  end

  def run
    @bodies = C.scatter(Program.first? ? Body.ball(OPTIONS[:bodies], Random.new(OPTIONS[:seed])) : nil)
    OPTIONS[:steps].times { step }
    C.reduce(@bodies) { |a, b| a + b }.sort_by(&:id)
  end

  def step
    cube = Cube.around(C.reduce(bounds(@bodies)) { |a, b| (a + b).minmax })
    share_out(cube)
    own = @bodies.group_by { |body| cube.region_of(body) }.map { |n, bodies| [n, Cell.of(bodies, cube.region(n), LEVELS).summary] }
    summaries = C.reduce(own) { |a, b| a + b }.to_h
    tree = Cell.tree(cube, Array.new(REGIONS) { |n| summaries[n] && FarCell.of(summaries[n]) })
    @bodies = @bodies.map { |body| Pull.new(body, tree).moved }
  end

  # Neighbouring regions for each node, with as many bodies as others have, more or less. All bodies are brought where their region is.
  def share_out(cube)
    regions = @bodies.group_by { |body| cube.region_of(body) }
    counts = C.reduce(Array.new(REGIONS) { |n| regions[n]&.size || 0 }) { |a, b| a.zip(b).map(&:sum) }
    before = 0
    owners = counts.map { |count| ((before += count) - count / 2 - 1) * @nodes.size / OPTIONS[:bodies] }
    regions.each { |n, bodies| @nodes[owners[n]].bring(bodies) }
    C.barrier
    @bodies = @brought.sort_by(&:id)
    @brought = []
  end

  # Bodies that come into this node's regions.
  def bring(bodies)
    @lock.synchronize { @brought.concat(bodies) }
    nil
  end
end

Program.run("#{OPTIONS[:bodies]} bodies after #{OPTIONS[:steps]} steps", sequential: OPTIONS[:check] == 1 && -> { alone }) { Node.new.run }
