%% The other side of client.erl: a function that is called, and a process that answers.
-module(owner).
-export([main/1, next/1]).

serve() ->
    receive {From, Ref, N} -> From ! {Ref, N + 1} end,
    serve().

next(N) -> N + 1.

main(_) ->
    register(owner, self()),
    io:format("ready~n"),
    spawn(fun() -> io:get_line(""), halt(0) end),
    serve().
