%% A server with a process for each connection. See echo_server.rb.
-module(echo_server).
-export([main/1, accept/1, serve/0]).

serve() -> receive {socket, S} -> serve(S) end.

serve(S) ->
    case gen_tcp:recv(S, 0) of
        {ok, Line} -> gen_tcp:send(S, Line), serve(S);
        {error, _} -> gen_tcp:close(S)
    end.

accept(L) ->
    {ok, S} = gen_tcp:accept(L),
    Pid = spawn(?MODULE, serve, []),
    ok = gen_tcp:controlling_process(S, Pid),
    Pid ! {socket, S},
    accept(L).

main(_) ->
    Self = self(),
    spawn(fun() ->
        {ok, L} = gen_tcp:listen(0, [binary, {packet, line}, {active, false}, {backlog, 1024}, {ip, {127, 0, 0, 1}}]),
        Self ! inet:port(L),
        accept(L)
    end),
    receive {ok, Port} -> io:format("~p~n", [Port]) end,
    wait().

wait() -> case io:get_line("") of eof -> halt(0); _ -> wait() end.
