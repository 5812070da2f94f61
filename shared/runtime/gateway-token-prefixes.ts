/** What the tokens of the gateway begin with, by kind. */
export const GATEWAY_TOKEN_PREFIXES = {
  /** External tokens (TE): what MCP clients send to the gateway. */
  external: 'gte_',
  refresh: 'gtr_',
} as const;
