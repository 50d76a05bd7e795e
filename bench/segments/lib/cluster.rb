# Processes that serve, and processes that ask them: nodes of kumi, nodes of Erlang, Redis, DRb. A party reads a line with what to measure
# and answers with a line of figures; all of them stand still meanwhile but the one that is asked, and its server.
require "socket"
require "fileutils"

module Bench
  # Seconds of processor time of a process (clock_getcpuclockid's number of its clock).
  def self.cpu_of(pid) = Process.clock_gettime((~pid << 3) | 2)

  # One process of a party.
  class Party
    attr_reader :name, :child

    def initialize(name, child)
      @name = name
      @child = child
    end

    # The figures of an operation, as the process prints them.
    def ask(*words, timeout: 60)
      @child.say(words.join(" "))
      line = @child.line(timeout: timeout)
      raise Child::Failed, line if line.start_with?("error")
      line.split.map(&:to_f)
    rescue Child::Failed => e
      raise Child::Failed, "#{@name}, #{words.join(" ")}: #{e.message}"
    end

    # Waits for the line that says that it is there.
    def ready(timeout: 60)
      line = @child.line(timeout: timeout)
      raise Child::Failed, "#{@name} said #{line}" unless line.start_with?("ready")
      self
    end

    # Seconds of processor time, those of ended threads with them.
    def cpu
      Bench.cpu_of(@child.pid)
    rescue SystemCallError
      raise Child::Failed, @child.why("#{@name} ended early")
    end
  end

  # Processes that know each other, and end together.
  class Cluster
    OWNER = "east"

    attr_reader :parties

    def self.open(...)
      cluster = new(...)
      yield cluster
    ensure
      cluster&.close
    end

    # `tls`: nodes of kumi have certificates.
    def initialize(suite, tls: false)
      @suite = suite
      @parties = []
      @tls = tls && certificates
      @join = nil
    end

    def close
      @parties.each { |p| p.child.kill }
    end

    # One that no connection of another node is given before its node listens: below those that the system gives out.
    def free_port
      low = File.read("/proc/sys/net/ipv4/ip_local_port_range").to_i.clamp(12_000, 60_000)
      begin
        TCPServer.open("127.0.0.1", rand(10_000...low)) { |s| s.addr[1] }
      rescue Errno::EADDRINUSE
        retry
      end
    end

    # A node of kumi that runs a program; those after the first join it. `core`: the only one it may use. Gives the Party before it is ready.
    def node(name, program, *args, await: nil, core: nil, env: {}, join: @join)
      address = "127.0.0.1:#{free_port}"
      words = ["node", name, "--listen", address]
      words += ["--join", join] if join
      words += ["--await", await.to_s] if await
      words += ["--cert", @tls.(name), "--key", @tls.(name).sub(/pem\z/, "key"), "--ca", @tls.("ca")] if @tls
      @join ||= address
      argv = [*@suite.kumi.command, *words, File.join(@suite.programs, "#{program}.rb"), *args.map(&:to_s)]
      argv = [@suite.tool("taskset"), "-c", core.to_s, *argv] if core && @suite.tool("taskset")
      party(name, argv, env: env)
    end

    # The address of the first node.
    attr_reader :join

    # A node of Erlang: the first listens, without epmd; the others connect.
    def beam(name, program, *args, first:)
      runtime = @suite.peers.find { |r| r.kind == "erl" }
      @port ||= free_port
      flags = "-start_epmd false -erl_epmd_port #{@port} -name #{name}@127.0.0.1 -setcookie bench#{" -dist_listen false" unless first}"
      party("BEAM #{name}", @suite.argv(runtime, program, *args), env: { "ERL_FLAGS" => flags })
    end

    def party(name, argv, env: {})
      child = Child.new(argv, env: env, errors: File.join(@suite.work, "#{@parties.size}-#{name.tr(" /", "--")}.err"))
      Party.new(name, child).tap { |p| @parties << p }
    end

    private

    # A certificate for each name, of an authority of this run.
    def certificates
      openssl = @suite.tool("openssl") or raise Child::Failed, "openssl is not there to make certificates"
      folder = File.join(@suite.work, "certificates")
      FileUtils.mkdir_p(folder)
      path = ->(file) { File.join(folder, file) }
      run = ->(*words) { system(openssl, *words, out: File::NULL, err: File::NULL) or raise Child::Failed, "openssl #{words.first} failed" }
      key = ->(file) { run.("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", file) }
      unless File.exist?(path.("ca.pem"))
        key.(path.("ca.key"))
        run.("req", "-x509", "-new", "-key", path.("ca.key"), "-subj", "/CN=bench", "-days", "2", "-out", path.("ca.pem"))
      end
      lambda do |name|
        made = path.("#{name}.pem")
        next made if File.exist?(made)
        key.(path.("#{name}.key"))
        File.write(path.("#{name}.ext"), "subjectAltName=DNS:#{name}\nextendedKeyUsage=serverAuth,clientAuth\n")
        run.("req", "-new", "-key", path.("#{name}.key"), "-subj", "/CN=#{name}", "-out", path.("#{name}.csr"))
        run.("x509", "-req", "-in", path.("#{name}.csr"), "-CA", path.("ca.pem"), "-CAkey", path.("ca.key"), "-CAcreateserial", "-days", "2",
             "-extfile", path.("#{name}.ext"), "-out", made)
        made
      end
    end
  end

  # An owner and a client of kumi, ready.
  def self.pair(cluster, env: {}, owner_core: nil, client_core: nil)
    owner = cluster.node(Cluster::OWNER, "remote_owner", core: owner_core, env: env).ready
    client = cluster.node("west", "remote_client", Cluster::OWNER, await: 2, core: client_core, env: env).ready
    [owner, client]
  end
end
