%% Calls of another node. Obeys lines on standard input: call N: erpc:call with an Integer; ask N: a message to a process and its answer.
-module(client).
-export([main/1]).

step("call", Node, I) -> erpc:call(Node, owner, next, [I]);
step("ask", Node, I) ->
    Ref = make_ref(),
    {owner, Node} ! {self(), Ref, I},
    receive {Ref, _} -> ok end.

timed(_, _, 0, Times) -> Times;
timed(How, Node, N, Times) ->
    From = erlang:monotonic_time(nanosecond),
    step(How, Node, N),
    timed(How, Node, N - 1, [erlang:monotonic_time(nanosecond) - From | Times]).

loop(Node) ->
    case io:get_line("") of
        eof -> halt(0);
        Line ->
            [How, Count] = string:lexemes(Line, " \n"),
            N = list_to_integer(Count),
            Times = lists:sort(timed(How, Node, N, [])),
            io:format("~p ~p ~p~n", [lists:nth(N div 2 + 1, Times), lists:nth(N * 99 div 100 + 1, Times), lists:sum(Times) / N]),
            loop(Node)
    end.

main([Text]) ->
    Node = list_to_atom(Text),
    pong = net_adm:ping(Node),
    io:format("ready~n"),
    loop(Node).
