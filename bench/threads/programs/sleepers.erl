%% Figure 7's program: N processes that wait. See sleepers.rb.
-module(sleepers).
-export([main/1, sleeper/0]).

sleeper() -> receive stop -> ok end.

seconds(From) -> (erlang:monotonic_time(microsecond) - From) / 1.0e6.

main([Text]) ->
    N = list_to_integer(Text),
    From = erlang:monotonic_time(microsecond),
    Pids = spawn_all(N, []),
    io:format("ready ~p~n", [seconds(From)]),
    commands(Pids).

spawn_all(0, Pids) -> Pids;
spawn_all(N, Pids) -> spawn_all(N - 1, [spawn(?MODULE, sleeper, []) | Pids]).

commands(Pids) ->
    case io:get_line("") of
        "join" ++ _ ->
            From = erlang:monotonic_time(microsecond),
            Refs = [monitor(process, P) || P <- Pids],
            [P ! stop || P <- Pids],
            [receive {'DOWN', R, _, _, _} -> ok end || R <- Refs],
            io:format("joined ~p~n", [seconds(From)]),
            commands([]);
        _ -> halt(0)
    end.
