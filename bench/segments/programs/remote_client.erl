%% Round trips to a process of another node. Obeys lines on standard input as remote_client.rb does:
%% echo BYTES N: there and back. accept BYTES N: there, and ok back. erpc BYTES N: erpc:call with so many bytes.
-module(remote_client).
-export([main/1]).

step("echo", Node, Data) -> ask(Node, echo, Data);
step("accept", Node, Data) -> ask(Node, accept, Data);
step("erpc", Node, Data) -> erpc:call(Node, remote_owner, answer, [Data]).

ask(Node, How, Data) ->
    {owner, Node} ! {self(), How, Data},
    receive {_, _} -> ok end.

timed(_, _, _, 0, Times) -> Times;
timed(How, Node, Data, N, Times) ->
    From = erlang:monotonic_time(nanosecond),
    step(How, Node, Data),
    timed(How, Node, Data, N - 1, [erlang:monotonic_time(nanosecond) - From | Times]).

loop(Node) ->
    case io:get_line("") of
        eof -> halt(0);
        Line ->
            [How, Bytes, Count] = string:lexemes(Line, " \n"),
            N = list_to_integer(Count),
            Times = lists:sort(timed(How, Node, binary:copy(<<"x">>, list_to_integer(Bytes)), N, [])),
            io:format("~p ~p ~p~n", [lists:nth(N div 2 + 1, Times), lists:nth(N * 99 div 100 + 1, Times), lists:sum(Times) / N]),
            loop(Node)
    end.

main([Text]) ->
    Node = list_to_atom(Text),
    pong = net_adm:ping(Node),
    io:format("ready~n"),
    loop(Node).
