%% How late a process that sleeps 1 ms runs beside processes that compute. See fairness.rb.
-module(fairness).
-export([main/1, burn/1, sleeper/3]).

burn(X) -> burn((X * 3 + 1) band 16#ffff).

now_us() -> erlang:monotonic_time(nanosecond) / 1000.

sleeper(Main, Stop, Late) ->
    From = now_us(),
    case From < Stop of
        true -> receive after 1 -> ok end, sleeper(Main, Stop, [now_us() - From - 1000 | Late]);
        false -> Main ! lists:sort(Late)
    end.

main([Burners, Seconds]) ->
    [spawn(?MODULE, burn, [1]) || _ <- lists:seq(1, list_to_integer(Burners))],
    For = try list_to_float(Seconds) catch _:_ -> list_to_integer(Seconds) end,
    spawn(?MODULE, sleeper, [self(), now_us() + For * 1.0e6, []]),
    receive Late ->
        N = length(Late),
        io:format("~p ~p ~p ~p~n", [lists:nth(N div 2 + 1, Late), lists:nth(N * 99 div 100 + 1, Late), lists:last(Late), N])
    end,
    halt(0).
