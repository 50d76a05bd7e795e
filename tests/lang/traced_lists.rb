# Whoever listens hears of the calls that are made without an Array.
heard = []
TracePoint.new(:c_call) { |t| heard << t.method_id }.enable { [0, 1].max; [2, 3].include?(2); [1].hash }
p heard & %i[max include? hash]
