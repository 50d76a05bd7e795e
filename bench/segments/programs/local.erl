%% A process sends to itself and receives (alone), or two send there and back (pair). See local.rb.
-module(local).
-export([main/1, echo/1]).

alone(0) -> ok;
alone(N) -> self() ! N, receive N -> ok end, alone(N - 1).

echo(0) -> ok;
echo(N) -> receive {From, I} -> From ! I end, echo(N - 1).

pair(N) -> asks(spawn(?MODULE, echo, [N]), N).

asks(_, 0) -> ok;
asks(Echo, N) -> Echo ! {self(), N}, receive N -> ok end, asks(Echo, N - 1).

main([Mode, Text]) ->
    N = list_to_integer(Text),
    Step = case Mode of "alone" -> fun alone/1; "pair" -> fun pair/1 end,
    Step(max(N div 10, 1)),
    From = erlang:monotonic_time(nanosecond),
    Step(N),
    io:format("~p~n", [(erlang:monotonic_time(nanosecond) - From) / N]),
    halt(0).
