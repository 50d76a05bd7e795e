# frozen_string_literal: true

require "net/protocol"

module Net
  # Errors that stand for a response.
  module HTTPExceptions
    attr_reader :response
    alias data response

    def initialize(message, response)
      super(message)
      @response = response
    end
  end

  class HTTPError < ProtocolError
    include HTTPExceptions
  end

  class HTTPRetriableError < ProtoRetriableError
    include HTTPExceptions
  end

  class HTTPClientException < ProtoServerError
    include HTTPExceptions
  end
  HTTPServerException = HTTPClientException
  deprecate_constant :HTTPServerException

  class HTTPFatalError < ProtoFatalError
    include HTTPExceptions
  end

  class HTTPResponse
  end

  # Kinds of responses: has it a body, what is raised for it.
  {
    "UnknownResponse" => [true, HTTPError], "Information" => [false, HTTPError], "Success" => [true, HTTPError],
    "Redirection" => [true, HTTPRetriableError], "ClientError" => [true, HTTPClientException],
    "ServerError" => [true, HTTPFatalError]
  }.each do |name, (body, error)|
    c = const_set("HTTP#{name}", Class.new(HTTPResponse))
    c.const_set(:HAS_BODY, body)
    c.const_set(:EXCEPTION_TYPE, error)
  end

  class HTTPResponse
    CODE_CLASS_TO_OBJ = {
      "1" => HTTPInformation, "2" => HTTPSuccess, "3" => HTTPRedirection, "4" => HTTPClientError, "5" => HTTPServerError
    }.freeze

    # Codes with their names; those that have no body.
    CODE_TO_OBJ = {
      100 => "Continue", 101 => "SwitchProtocol", 102 => "Processing", 103 => "EarlyHints",
      200 => "OK", 201 => "Created", 202 => "Accepted", 203 => "NonAuthoritativeInformation", 204 => "NoContent",
      205 => "ResetContent", 206 => "PartialContent", 207 => "MultiStatus", 208 => "AlreadyReported", 226 => "IMUsed",
      300 => "MultipleChoices", 301 => "MovedPermanently", 302 => "Found", 303 => "SeeOther", 304 => "NotModified",
      305 => "UseProxy", 307 => "TemporaryRedirect", 308 => "PermanentRedirect",
      400 => "BadRequest", 401 => "Unauthorized", 402 => "PaymentRequired", 403 => "Forbidden", 404 => "NotFound",
      405 => "MethodNotAllowed", 406 => "NotAcceptable", 407 => "ProxyAuthenticationRequired", 408 => "RequestTimeout",
      409 => "Conflict", 410 => "Gone", 411 => "LengthRequired", 412 => "PreconditionFailed", 413 => "PayloadTooLarge",
      414 => "URITooLong", 415 => "UnsupportedMediaType", 416 => "RangeNotSatisfiable", 417 => "ExpectationFailed",
      421 => "MisdirectedRequest", 422 => "UnprocessableEntity", 423 => "Locked", 424 => "FailedDependency",
      426 => "UpgradeRequired", 428 => "PreconditionRequired", 429 => "TooManyRequests",
      431 => "RequestHeaderFieldsTooLarge", 451 => "UnavailableForLegalReasons",
      500 => "InternalServerError", 501 => "NotImplemented", 502 => "BadGateway", 503 => "ServiceUnavailable",
      504 => "GatewayTimeout", 505 => "VersionNotSupported", 506 => "VariantAlsoNegotiates", 507 => "InsufficientStorage",
      508 => "LoopDetected", 510 => "NotExtended", 511 => "NetworkAuthenticationRequired"
    }.to_h do |code, name|
      c = Net.const_set("HTTP#{name}", Class.new(CODE_CLASS_TO_OBJ[code.to_s[0]]))
      c.const_set(:HAS_BODY, code >= 200 && ![204, 205, 304].include?(code))
      [code.to_s, c]
    end.freeze
  end

  # Former names.
  HTTPMultipleChoice = HTTPMultipleChoices
  HTTPMovedTemporarily = HTTPFound
  HTTPRequestTimeOut = HTTPRequestTimeout
  HTTPRequestEntityTooLarge = HTTPPayloadTooLarge
  HTTPRequestURITooLong = HTTPURITooLong
  HTTPRequestURITooLarge = HTTPURITooLong
  HTTPRequestedRangeNotSatisfiable = HTTPRangeNotSatisfiable
  HTTPGatewayTimeOut = HTTPGatewayTimeout
  HTTPInformationCode = HTTPInformation
  HTTPSuccessCode = HTTPSuccess
  HTTPRedirectionCode = HTTPRedirection
  HTTPRetriableCode = HTTPRedirection
  HTTPClientErrorCode = HTTPClientError
  HTTPFatalErrorCode = HTTPClientError
  HTTPServerErrorCode = HTTPServerError
  HTTPResponceReceiver = HTTPResponse
end
