/** JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;

/** MCP 2026-07-28: headers that mirror the body disagree with it. */
export const HEADER_MISMATCH = -32020;

/** A code of the gateway, positive like its others: the media type or encoding of the body. */
export const UNSUPPORTED_MEDIA_TYPE = 41501;
