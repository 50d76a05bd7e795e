%% Starts processes and waits for their end. See spawn_join.rb.
-module(spawn_join).
-export([main/1, one/0]).

one() -> ok.

start() -> element(2, spawn_monitor(?MODULE, one, [])).

join(Ref) -> receive {'DOWN', Ref, _, _, _} -> ok end.

single(0) -> ok;
single(N) -> join(start()), single(N - 1).

batch(N) when N < 1000 -> ok;
batch(N) ->
    [join(R) || R <- [start() || _ <- lists:seq(1, 1000)]],
    batch(N - 1000).

main([Mode, Text]) ->
    Wanted = list_to_integer(Text),
    {Work, N} = case Mode of
        "batch" -> {fun batch/1, max(Wanted div 1000, 1) * 1000};
        _ -> {fun single/1, Wanted}
    end,
    Work(1000),
    From = erlang:monotonic_time(nanosecond),
    Work(N),
    io:format("~p~n", [(erlang:monotonic_time(nanosecond) - From) / N]),
    halt(0).
