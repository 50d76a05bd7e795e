%% Two processes send a number back and forth. See pingpong.rb; there is no polling in Erlang, so poll does not exist.
-module(pingpong).
-export([main/1, echo/1, ask/3, burn/1]).

echo(0) -> ok;
echo(N) -> receive {From, I} -> From ! I end, echo(N - 1).

ask(Main, Echo, N) -> asks(Echo, N), Main ! done.

asks(_, 0) -> ok;
asks(Echo, N) -> Echo ! {self(), N}, receive N -> ok end, asks(Echo, N - 1).

burn(X) -> burn((X * 3 + 1) band 16#ffff).

pair(N) -> spawn(?MODULE, ask, [self(), spawn(?MODULE, echo, [N]), N]).

trial("pairs", N) -> pair(N), pair(N), receive done -> receive done -> ok end end;
trial(_, N) -> pair(N), receive done -> ok end.

main([Mode, Text]) ->
    N = list_to_integer(Text),
    case Mode of
        "burn" -> [spawn(?MODULE, burn, [1]) || _ <- [1, 2]], timer:sleep(20);
        _ -> ok
    end,
    trial(Mode, max(N div 10, 1)),
    From = erlang:monotonic_time(nanosecond),
    trial(Mode, N),
    io:format("~p~n", [(erlang:monotonic_time(nanosecond) - From) / N]),
    halt(0).
