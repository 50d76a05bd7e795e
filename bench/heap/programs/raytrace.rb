# A ray tracer with small vector objects, after mtrt: a scene of spheres, planes and triangles in a bounding-box tree, shadows,
# reflection and refraction. Threads share the scene and take the picture's rows in turn.
# usage: raytrace.rb [SIZE=26] [THREADS=2]
class Vec
  attr_reader :x, :y, :z

  def initialize(x, y, z)
    @x = x
    @y = y
    @z = z
  end

  def +(o) = Vec.new(@x + o.x, @y + o.y, @z + o.z)
  def -(o) = Vec.new(@x - o.x, @y - o.y, @z - o.z)
  def *(k) = Vec.new(@x * k, @y * k, @z * k)
  def -@ = Vec.new(-@x, -@y, -@z)
  def dot(o) = @x * o.x + @y * o.y + @z * o.z
  def cross(o) = Vec.new(@y * o.z - @z * o.y, @z * o.x - @x * o.z, @x * o.y - @y * o.x)
  def times(o) = Vec.new(@x * o.x, @y * o.y, @z * o.z)
  def length = Math.sqrt(dot(self))
  def unit = self * (1.0 / length)
  def reflect(n) = self - n * (2.0 * dot(n))
  def min(o) = Vec.new([@x, o.x].min, [@y, o.y].min, [@z, o.z].min)
  def max(o) = Vec.new([@x, o.x].max, [@y, o.y].max, [@z, o.z].max)
  def to_a = [@x, @y, @z]
end

BLACK = Vec.new(0.0, 0.0, 0.0)
FAR = 1e30
NEAR = 1e-4

class Ray
  attr_reader :origin, :direction

  def initialize(origin, direction)
    @origin = origin
    @direction = direction
  end

  def at(t) = @origin + @direction * t
end

Hit = Struct.new(:distance, :point, :normal, :material)

class Material
  attr_reader :diffuse, :shine, :mirror, :glass

  def initialize(colour, other: nil, diffuse: 0.8, shine: 0.3, mirror: 0.0, glass: nil)
    @colour = colour
    @other = other
    @diffuse = diffuse
    @shine = shine
    @mirror = mirror
    @glass = glass
  end

  # A chequered surface has two colours.
  def colour(point)
    return @colour unless @other
    ((point.x.floor + point.z.floor) % 2).zero? ? @colour : @other
  end
end

class Sphere
  def initialize(center, radius, material)
    @center = center
    @radius = radius
    @material = material
  end

  def low = @center - Vec.new(@radius, @radius, @radius)
  def high = @center + Vec.new(@radius, @radius, @radius)
  def center = @center

  def hit(ray, limit)
    to = ray.origin - @center
    b = to.dot(ray.direction)
    c = to.dot(to) - @radius * @radius
    d = b * b - c
    return nil if d < 0.0
    root = Math.sqrt(d)
    t = -b - root
    t = -b + root if t < NEAR
    return nil if t < NEAR || t >= limit
    point = ray.at(t)
    Hit.new(t, point, (point - @center) * (1.0 / @radius), @material)
  end
end

class Plane
  def initialize(normal, offset, material)
    @normal = normal
    @offset = offset
    @material = material
  end

  def hit(ray, limit)
    slope = @normal.dot(ray.direction)
    return nil if slope.abs < 1e-9
    t = (@offset - @normal.dot(ray.origin)) / slope
    t < NEAR || t >= limit ? nil : Hit.new(t, ray.at(t), slope < 0.0 ? @normal : -@normal, @material)
  end
end

class Triangle
  attr_reader :low, :high, :center

  def initialize(a, b, c, material)
    @a = a
    @ab = b - a
    @ac = c - a
    @material = material
    @normal = @ab.cross(@ac).unit
    @low = a.min(b).min(c)
    @high = a.max(b).max(c)
    @center = (a + b + c) * (1.0 / 3.0)
  end

  def hit(ray, limit)
    p = ray.direction.cross(@ac)
    det = @ab.dot(p)
    return nil if det.abs < 1e-9
    to = ray.origin - @a
    u = to.dot(p) / det
    return nil if u < 0.0 || u > 1.0
    q = to.cross(@ab)
    v = ray.direction.dot(q) / det
    return nil if v < 0.0 || u + v > 1.0
    t = @ac.dot(q) / det
    return nil if t < NEAR || t >= limit
    Hit.new(t, ray.at(t), @normal.dot(ray.direction) < 0.0 ? @normal : -@normal, @material)
  end
end

# Things in a box: a leaf with a few, or two halves.
class Box
  def self.of(things, depth = 0)
    return Box.new(things, nil, nil) if things.size <= 3
    axis = %i[x y z][depth % 3]
    sorted = things.sort_by { |t| t.center.public_send(axis) }
    half = sorted.size / 2
    Box.new(nil, Box.of(sorted[0...half], depth + 1), Box.of(sorted[half..], depth + 1))
  end

  attr_reader :low, :high

  def initialize(things, left, right)
    @things = things
    @left = left
    @right = right
    parts = things || [left, right]
    @low = parts.map(&:low).reduce { |a, b| a.min(b) }
    @high = parts.map(&:high).reduce { |a, b| a.max(b) }
  end

  def hit(ray, limit)
    return nil unless met?(ray, limit)
    if @things
      @things.reduce(nil) { |best, t| t.hit(ray, best ? best.distance : limit) || best }
    else
      left = @left.hit(ray, limit)
      @right.hit(ray, left ? left.distance : limit) || left
    end
  end

  private

  def met?(ray, limit)
    near = NEAR
    far = limit
    low = @low.to_a
    high = @high.to_a
    from = ray.origin.to_a
    ray.direction.to_a.each_with_index do |d, i|
      return false if d == 0.0 && (from[i] < low[i] || from[i] > high[i])
      next if d == 0.0
      a = (low[i] - from[i]) / d
      b = (high[i] - from[i]) / d
      a, b = b, a if a > b
      near = a if a > near
      far = b if b < far
      return false if near > far
    end
    true
  end
end

class Scene
  def initialize
    red = Material.new(Vec.new(0.9, 0.2, 0.15), mirror: 0.15)
    blue = Material.new(Vec.new(0.2, 0.3, 0.9), shine: 0.8, mirror: 0.3)
    glass = Material.new(Vec.new(0.95, 1.0, 0.95), diffuse: 0.1, shine: 0.9, glass: 1.5)
    floor = Material.new(Vec.new(0.8, 0.8, 0.75), other: Vec.new(0.2, 0.25, 0.2), shine: 0.0, mirror: 0.1)
    things = []
    24.times do |i|
      a = i * 0.52
      things << Sphere.new(Vec.new(Math.cos(a) * (2.0 + i * 0.1), 0.3 + (i % 4) * 0.45, 6.0 + Math.sin(a) * (2.0 + i * 0.1)), 0.32, i.even? ? red : blue)
    end
    things << Sphere.new(Vec.new(0.0, 1.0, 4.0), 0.9, glass)
    12.times do |i|
      x = -3.0 + i * 0.5
      things << Triangle.new(Vec.new(x, 0.0, 9.0), Vec.new(x + 0.5, 0.0, 9.0), Vec.new(x + 0.25, 2.5, 9.5), i % 3 == 0 ? blue : red)
    end
    @box = Box.of(things)
    @floor = Plane.new(Vec.new(0.0, 1.0, 0.0), 0.0, floor)
    @lights = [[Vec.new(-5.0, 8.0, 0.0), 0.7], [Vec.new(6.0, 6.0, 2.0), 0.5]]
  end

  def nearest(ray, limit)
    hit = @box.hit(ray, limit)
    @floor.hit(ray, hit ? hit.distance : limit) || hit
  end

  def trace(ray, depth)
    hit = nearest(ray, FAR)
    return sky(ray) unless hit
    material = hit.material
    colour = shade(ray, hit)
    return colour if depth <= 0
    if material.glass
      colour + bend(ray, hit, depth).times(material.colour(hit.point)) * 0.85
    elsif material.mirror > 0.0
      colour * (1.0 - material.mirror) + trace(Ray.new(hit.point, ray.direction.reflect(hit.normal)), depth - 1) * material.mirror
    else
      colour
    end
  end

  private

  def sky(ray)
    t = 0.5 * (ray.direction.y + 1.0)
    Vec.new(0.9, 0.95, 1.0) * (1.0 - t) + Vec.new(0.3, 0.5, 0.9) * t
  end

  def shade(ray, hit)
    material = hit.material
    colour = material.colour(hit.point)
    @lights.reduce(colour * 0.1) do |sum, (place, power)|
      to = place - hit.point
      distance = to.length
      to = to * (1.0 / distance)
      facing = hit.normal.dot(to)
      next sum if facing <= 0.0 || nearest(Ray.new(hit.point, to), distance)
      sum += colour * (facing * material.diffuse * power)
      gleam = to.reflect(hit.normal).dot(ray.direction)
      next sum if gleam <= 0.0
      4.times { gleam *= gleam }
      sum + Vec.new(1.0, 1.0, 1.0) * (gleam * material.shine * power)
    end
  end

  def bend(ray, hit, depth)
    inside = hit.normal.dot(ray.direction) > 0.0
    normal = inside ? -hit.normal : hit.normal
    ratio = inside ? hit.material.glass : 1.0 / hit.material.glass
    cos = -normal.dot(ray.direction)
    rest = 1.0 - ratio * ratio * (1.0 - cos * cos)
    direction = rest < 0.0 ? ray.direction.reflect(normal) : ray.direction * ratio + normal * (ratio * cos - Math.sqrt(rest))
    trace(Ray.new(hit.point, direction.unit), depth - 1)
  end
end

# One row of the picture as three bytes for each point.
def row(scene, y, width, height)
  eye = Vec.new(0.0, 1.8, -2.5)
  Array.new(width) do |x|
    direction = Vec.new((x - width / 2.0) / width * 1.6, (height / 2.0 - y) / height * 1.2 - 0.1, 1.0).unit
    scene.trace(Ray.new(eye, direction), 3).to_a.map { |c| (c.clamp(0.0, 1.0) * 255.0).to_i }
  end
end

size = Integer(ARGV[0] || 26)
threads = Integer(ARGV[1] || 2)
width = size * 8
height = size * 6
scene = Scene.new
parts = Array.new(threads) do |k|
  Thread.new { (k...height).step(threads).to_h { |y| [y, row(scene, y, width, height)] } }
end
rows = parts.map(&:value).reduce(:merge)
sum = 0
height.times { |y| rows[y].each { |r, g, b| sum = (sum * 31 + r * 65_536 + g * 256 + b) % 1_000_000_007 } }
puts "checksum #{sum}"
