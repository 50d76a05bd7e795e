-- What all scripts begin with.
local call, pack, unpack_ = redis.call, struct.pack, struct.unpack
-- See common.lua.
local SPECIAL = 4503599627370496
