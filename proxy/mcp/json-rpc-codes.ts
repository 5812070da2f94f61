/** JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;

/** MCP 2026-07-28: headers that mirror the body disagree with it. */
export const HEADER_MISMATCH = -32020;

/**
 * Returns the gateway's own code of an HTTP status: 40301 for 403. Positive, because JSON-RPC and MCP
 * 2026-07-28 reserve the negative codes.
 */
export function gatewayCode(status: number): number {
  return status * 100 + 1;
}

/** A tool call that the policy denies: the code of a 403, in a response with status 200 (D-011). */
export const DENIED = gatewayCode(403);

/** The media type or encoding of the body. */
export const UNSUPPORTED_MEDIA_TYPE = gatewayCode(415);
