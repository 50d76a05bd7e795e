%% Calls of another node. Obeys lines on standard input: call N: erpc:call with an Integer; ask N: a message to a process and its answer.
%% calls N, asks N: N of them under way at a time; nanoseconds of one, as a whole.
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
            io:format("~s~n", [lists:join(" ", [io_lib:format("~p", [F]) || F <- figures(How, Node, list_to_integer(Count))])]),
            loop(Node)
    end.

figures("calls", Node, N) ->
    whole(N, fun() ->
        All = [erpc:send_request(Node, owner, next, [I]) || I <- lists:seq(1, N)],
        [erpc:receive_response(R) || R <- All]
    end);
figures("asks", Node, N) ->
    whole(N, fun() ->
        All = [begin Ref = make_ref(), {owner, Node} ! {self(), Ref, I}, Ref end || I <- lists:seq(1, N)],
        [receive {Ref, _} -> ok end || Ref <- All]
    end);
figures(How, Node, N) ->
    Times = lists:sort(timed(How, Node, N, [])),
    [lists:nth(N div 2 + 1, Times), lists:nth(N * 99 div 100 + 1, Times), lists:sum(Times) / N].

whole(N, Work) ->
    From = erlang:monotonic_time(nanosecond),
    Work(),
    [(erlang:monotonic_time(nanosecond) - From) / N].

main([Text]) ->
    Node = list_to_atom(Text),
    pong = net_adm:ping(Node),
    io:format("ready~n"),
    loop(Node).
