%% The other side of remote_client.erl: a process that sends back what it gets.
-module(remote_owner).
-export([main/1, answer/1]).

serve() ->
    receive
        {From, echo, Data} -> From ! {self(), Data};
        {From, accept, _} -> From ! {self(), ok}
    end,
    serve().

answer(_) -> ok.

main(_) ->
    register(owner, self()),
    io:format("ready~n"),
    spawn(fun() -> io:get_line(""), halt(0) end),
    serve().
