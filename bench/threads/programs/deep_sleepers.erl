%% N processes that wait ten frames down, each frame with a variable that a fun has captured. See deep_sleepers.rb.
-module(deep_sleepers).
-export([main/1, down/3]).

down(1, _, Parent) -> Parent ! ready, receive stop -> 1 end;
down(Depth, Sum, Parent) ->
    Seen = Sum + Depth,
    More = fun(X) -> X + Seen end,
    Below = down(Depth - 1, Seen, Parent),
    More(Below).

main([Text | _]) ->
    N = list_to_integer(Text),
    Self = self(),
    [spawn(?MODULE, down, [10, I, Self]) || I <- lists:seq(1, N)],
    [receive ready -> ok end || _ <- lists:seq(1, N)],
    erlang:garbage_collect(),
    io:format("ready~n"),
    wait().

wait() -> case io:get_line("") of eof -> halt(0); _ -> wait() end.
