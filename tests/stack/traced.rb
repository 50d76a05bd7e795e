# Tracing goes as deep as the program does.

def down(n) = n == 0 ? 0 : 1 + down(n - 1)
n = 0
TracePoint.new(:call, :return, :c_call, :c_return) { n += 1 }.enable { down(2000) }
p n
def endless = endless
TracePoint.new(:call) { n = 0 }.enable { begin; endless; rescue SystemStackError => e; p e.class; end }
